import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { ROOT } from '../../support/files';
import { useStore } from '../../support/use-service';

const { service } = useStore();
const installed = join(ROOT, 'node_modules');
let project: string;

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'petstore-types-'));
  symlinkSync(installed, join(project, 'node_modules'));
  writeFileSync(join(project, 'openapi.json'), JSON.stringify(service.document));
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

/** Runs an installed program in the project, with its default settings where nothing else is said. */
function run(program: string, args: string[], env: NodeJS.ProcessEnv = {}) {
  const options = { cwd: project, env: { PATH: process.env.PATH, ...env } };
  return promisify(execFile)(process.execPath, [program, ...args], options);
}

/**
 * What a caller does with the types: every field that a response always has is read without a doubt, fields of requests
 * with a default are left out, and what may be absent is not taken for granted.
 */
const USE = `
  const whole: Required<Omit<typeof order, 'shipDate'>> = order;
  console.log(whole.id > 0, whole.petId === pet.id, whole.quantity.toFixed(), whole.complete ? 'complete' : 'open');
  console.log(pet.status.toUpperCase(), pets.map(({ status }) => status.length).join());
  // @ts-expect-error -- An order without a date has none.
  const date: string = order.shipDate;
  console.log(date);
  for (const event of events) {
    if (event.type === 'order.placed') console.log(event.type, event.data.quantity.toFixed());
    if (event.type === 'pet.created') console.log(event.type, event.data.status.toUpperCase());
  }
  console.log(missing.code === 'category_not_found', missing.status.toFixed());`;

const GENERATORS = [
  {
    generator: 'openapi-typescript',
    generate: ['openapi-typescript/bin/cli.js', 'openapi.json', '--output', 'types.ts'],
    program: `import createClient from 'openapi-fetch';
      import type { paths } from './types';
      const { PETSTORE_URL: baseUrl, PETSTORE_KEY } = process.env;
      const api = createClient<paths>({ baseUrl: baseUrl!, headers: { 'X-API-Key': PETSTORE_KEY } });
      const { data: category } = await api.POST('/categories', { body: { name: 'Dogs' } });
      const { data: pet } = await api.POST('/pets', { body: { name: 'Ada', categoryId: category!.id } });
      const { data: pets } = await api.GET('/pets', { params: { query: { id: [pet!.id] } } });
      const { data: order } = await api.POST('/store/orders', { body: { petId: pet!.id } });
      const { data: events } = await api.GET('/events', { params: { query: { petId: pet!.id } } });
      const { error: missing } = await api.GET('/categories/{categoryId}', { params: { path: { categoryId: 4711 } } });
      if (!pet || !pets || !order || !events || !missing) throw new Error('A response is not as described.');`,
  },
];

it.each(GENERATORS)('The types of $generator are what the service returns', async (using) => {
  const [program, ...args] = using.generate;
  await run(join(installed, program!), args);
  writeFileSync(join(project, 'use.ts'), using.program + USE);
  const strict = '--strict --noUncheckedIndexedAccess --noEmit --skipLibCheck --types node'.split(' ');
  const bundled = '--target es2022 --module esnext --moduleResolution bundler'.split(' ');
  const compiled = await run(join(installed, 'typescript/bin/tsc'), [...strict, ...bundled, 'use.ts']).catch(
    ({ stdout }: { stdout: string }) => ({ stdout }),
  );
  expect(compiled.stdout).toBe('');
  const script = join(project, 'use.mjs');
  await build({
    entryPoints: [join(project, 'use.ts')],
    outfile: script,
    bundle: true,
    platform: 'node',
    format: 'esm',
  });
  const { key } = await service.issueKey({ plan: 'free' });
  const { stdout } = await run(script, [], { PETSTORE_URL: service.url, PETSTORE_KEY: key });
  expect(stdout.split('\n')).toEqual([
    'true true 1 open',
    'AVAILABLE 9',
    'undefined',
    'pet.created AVAILABLE',
    'order.placed 1',
    'true 404',
    '',
  ]);
});
