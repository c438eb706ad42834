import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Copy, DockerfileParser } from 'dockerfile-ast';
import { readSettings } from '../../../src/settings';
import { ROOT, read } from '../../support/files';

const DOCKERFILE = read('docker/Dockerfile');
const PACKAGE = JSON.parse(read('package.json')) as Record<'version' | 'description' | 'license', string> & {
  files: string[];
};
const instructions = DockerfileParser.parse(DOCKERFILE).getInstructions();

/** What `COPY` takes from the build's context, by stage. */
function copied(from: typeof instructions): string[] {
  return from
    .filter((instruction): instruction is Copy => instruction instanceof Copy)
    .filter((copy) => copy.getFromFlag() === null)
    .flatMap((copy) => (copy.getArgumentsContent() ?? '').split(/\s+/).slice(0, -1));
}

it('The image is built on a whole version, runs as a user by number and starts without a shell', () => {
  expect(DOCKERFILE).toMatch(/^FROM node:\d+\.\d+\.\d+\S* AS base$/m);
  expect(DOCKERFILE).toMatch(/^USER [1-9]\d*:[1-9]\d*$/m);
  expect(DOCKERFILE).toMatch(/^HEALTHCHECK [^]*? CMD \["node", /m);
  expect(DOCKERFILE).toMatch(/^ENTRYPOINT \["petstore"\]\nCMD \["serve"\]$/m);
});

it('No secret is in the image', () => {
  expect(DOCKERFILE).not.toMatch(/^(ARG|ENV|LABEL).*(PASSWORD|SECRET|TOKEN|KEY|_URL)/m);
});

it('Everything that the package ships is in the image, except what only people read', () => {
  const shipped = PACKAGE.files.filter((name) => !/^(README\.md|CHANGELOG\.md|!.*)$/.test(name));
  const stage = instructions.slice(instructions.findLastIndex((one) => one.getKeyword() === 'FROM'));
  expect(DOCKERFILE).toContain('COPY --from=build /app/dist dist\n');
  expect([...copied(stage), 'dist']).toEqual(expect.arrayContaining([...shipped, 'package.json']));
});

it('The build context contains exactly what the image is built from', () => {
  const [refuseAll, ...rest] = read('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const letIn = rest.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
  expect(refuseAll).toBe('*');
  expect(letIn.toSorted()).toEqual([...new Set(copied(instructions))].toSorted());
  expect(letIn.filter((name) => !existsSync(join(ROOT, name)))).toEqual([]);
});

it('The labels match package.json', () => {
  const label = (name: string) => new RegExp(`image\\.${name}="([^"]*)"`).exec(DOCKERFILE)?.[1];
  expect([label('description'), label('licenses')]).toEqual([PACKAGE.description, PACKAGE.license]);
  expect(DOCKERFILE).toContain(`ARG VERSION=${PACKAGE.version}\n`);
});

it('The settings of the image are settings of the service, and make it reachable from outside the container', () => {
  const environment = Object.fromEntries(
    [...DOCKERFILE.matchAll(/^(?:ENV|   ) (\w+)=(\S+)/gm)].map(([, name = '', value]) => [name, value]),
  );
  expect(Object.keys(environment)).toEqual(['NODE_ENV', 'HOST', 'PORT', 'METRICS_PORT']);
  const { host, port, metrics } = readSettings(environment);
  expect({ host, port, metrics }).toEqual({
    host: '0.0.0.0',
    port: 3000,
    metrics: { host: '0.0.0.0', port: 9464 },
  });
  const [, exposed] = /^EXPOSE (.+)$/m.exec(DOCKERFILE)!;
  expect(exposed).toBe(`${port} ${metrics!.port}`);
});
