// Prints the bill of materials of what is shipped, as CycloneDX 1.5: `npm run sbom`.
// `npm sbom --omit=dev` would leave out what is shipped and needed for development as well, and calls the service by the name of its folder.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const read = (file) => JSON.parse(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8'));
const { name, dependencies, optionalDependencies } = read('package.json');
const direct = Object.keys({ ...dependencies, ...optionalDependencies });
const shipped = Object.entries(read('package-lock.json').packages)
  .filter(([path, { dev }]) => path !== '' && dev !== true)
  .map(([path, { version }]) => `${path.replace(/^.*node_modules\//, '')}@${version}`);

const format = ['--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application'];
const bill = JSON.parse(execFileSync('npm', ['sbom', ...format], { encoding: 'utf8', maxBuffer: 2 ** 26 }));
const { component } = bill.metadata;
const own = component['bom-ref'];
const isDirect = (reference) => direct.includes(reference.replace(/@[^@]+$/, ''));

component.name = name;
bill.components = bill.components.filter((one) => shipped.includes(one['bom-ref']));
bill.dependencies = bill.dependencies
  .filter(({ ref }) => ref === own || shipped.includes(ref))
  .map(({ ref, dependsOn }) => ({
    ref,
    dependsOn: dependsOn.filter((other) => shipped.includes(other) && (ref !== own || isDirect(other))),
  }));
console.log(JSON.stringify(bill, null, 2));
