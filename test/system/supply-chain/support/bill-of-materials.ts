import { type PackageFile, lockedPackages } from '../../../support/lock-file';
import { npm } from './npm';

interface Component {
  'bom-ref': string;
  type: string;
  name: string;
  version: string;
  hashes?: { alg: string; content: string }[];
}

/** A CycloneDX document, as far as it is touched. */
export interface BillOfMaterials {
  metadata: { component: Component };
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

/** npm's own bill, of everything in the lock file. */
export async function wholeBill(): Promise<BillOfMaterials> {
  const format = ['--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application'];
  return JSON.parse(await npm('sbom', ...format)) as BillOfMaterials;
}

/**
 * What is shipped, by the lock file. `npm sbom --omit=dev` would leave out what is shipped and needed for development as well
 * (Nest itself, say), marks what is there twice by one of the two, and calls the service by the name of the folder it lies in.
 */
export function shippedOf(bill: BillOfMaterials, service: PackageFile): BillOfMaterials {
  const shipped = lockedPackages().filter(({ dev }) => dev !== true);
  const kept = new Set(shipped.map(({ name, version }) => `${name}@${version}`));
  const own = bill.metadata.component['bom-ref'];
  const direct = { ...service.dependencies, ...service.optionalDependencies };
  const dependencies = bill.dependencies
    .filter(({ ref }) => ref === own || kept.has(ref))
    .map(({ ref, dependsOn }) => ({
      ref,
      dependsOn: dependsOn.filter((other) => kept.has(other) && (ref !== own || nameOf(other) in direct)),
    }));
  return {
    ...bill,
    metadata: { ...bill.metadata, component: { ...bill.metadata.component, name: service.name } },
    components: bill.components.filter((component) => kept.has(component['bom-ref'])),
    dependencies,
  };
}

function nameOf(reference: string): string {
  return reference.replace(/@[^@]+$/, '');
}
