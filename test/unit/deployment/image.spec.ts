import { readSettings } from '../../../src/settings';
import { read } from '../../support/files';

const DOCKERFILE = read('docker/Dockerfile');

it('The image is built on a whole version, runs as a user by number and starts without a shell', () => {
  expect(DOCKERFILE).toMatch(/^FROM node:\d+\.\d+\.\d+\S* AS base$/m);
  expect(DOCKERFILE).toMatch(/^USER [1-9]\d*:[1-9]\d*$/m);
  expect(DOCKERFILE).toMatch(/^HEALTHCHECK [^]*? CMD \["node", /m);
  expect(DOCKERFILE).toMatch(/^ENTRYPOINT \["petstore"\]\nCMD \["serve"\]$/m);
});

it('No secret is in the image', () => {
  expect(DOCKERFILE).not.toMatch(/^(ARG|ENV|LABEL).*(PASSWORD|SECRET|TOKEN|KEY|_URL)/m);
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
