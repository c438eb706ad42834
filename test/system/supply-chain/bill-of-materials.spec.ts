import { execFileSync } from 'node:child_process';
import { ROOT, type PackageFile, lockedPackages, readJson } from '../../support/files';

/** A CycloneDX document, as far as it is read. */
interface BillOfMaterials {
  metadata: { component: { 'bom-ref': string; type: string; name: string } };
  components: { name: string; version: string; hashes?: { alg: string }[] }[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

const service = readJson<PackageFile>('package.json');
const printed = execFileSync(process.execPath, ['.ci/sbom.mjs'], { cwd: ROOT, encoding: 'utf8' });
const bill = JSON.parse(printed) as BillOfMaterials;

it('lists every shipped package with its digest, and no development package', () => {
  const named = new Set(bill.components.map((component) => `${component.name}@${component.version}`));
  const locked = lockedPackages();
  const shipped = new Set(locked.filter(({ dev }) => !dev).map((entry) => `${entry.name}@${entry.version}`));
  expect([...shipped].filter((entry) => !named.has(entry))).toEqual([]);
  expect([...named].filter((entry) => !shipped.has(entry))).toEqual([]);
  expect(bill.components.filter(({ hashes = [] }) => hashes[0]?.alg !== 'SHA-512')).toEqual([]);
});

it('describes the service, which depends on what package.json declares', () => {
  const { component } = bill.metadata;
  expect([component.name, component.type]).toEqual(['petstore-service', 'application']);
  const own = bill.dependencies.find(({ ref }) => ref === component['bom-ref'])!.dependsOn;
  const names = own.map((ref) => ref.replace(/@[^@]+$/, ''));
  const direct = Object.keys({ ...service.dependencies, ...service.optionalDependencies });
  expect(names.toSorted()).toEqual(direct.toSorted());
});
