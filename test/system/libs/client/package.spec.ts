import { build } from 'esbuild';
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Script, createContext } from 'node:vm';
import type * as Client from '#libs/client';
import { SeedService } from '../../../../src/store/seed';
import { type Operation, operationsOf } from '../../../support/document';
import { ROOT, read, readJson, useFolder } from '../../../support/files';
import { fileIn } from '../../../support/guides';
import { SpawnedProcess } from '../../../support/spawned-process';
import { startService } from '../../../support/service';
import { useService } from '../../../support/use-service';

const COMPILER = join(ROOT, 'node_modules/typescript/bin/tsc');
const service = useService();
const project = useFolder();
/** The output of the compiler for the project. */
let complaints: string;

/** Runs a program to its end. @returns its output or, if it fails, its errors, too */
async function run(args: string[], environment = {}, program = process.execPath): Promise<string> {
  const options = { cwd: project, env: { PATH: process.env.PATH, ...environment } };
  const running = new SpawnedProcess([program, ...args], options);
  const { code } = await running.ended;
  return code === 0 ? running.stdout : running.stdout + running.stderr;
}

/** The examples of the README, which form one program. */
const [...examples] = read('libs/client/README.md').matchAll(/```ts\n(.*?)```/gs);

/** Creates a project with the package, installed as by npm, the examples of the README, and examples of mistakes. */
beforeAll(async () => {
  const source = join(ROOT, 'libs/client');
  const installed = join(project, 'node_modules/@petstore/client');
  mkdirSync(installed, { recursive: true });
  expect(await run([COMPILER, '--project', source, '--outDir', join(installed, 'lib')])).toBe('');
  copyFileSync(join(source, 'package.json'), join(installed, 'package.json'));
  const { dependencies } = readJson<{ dependencies: object }>('libs/client/package.json');
  for (const name of [...Object.keys(dependencies), '@types', 'undici-types']) {
    symlinkSync(join(ROOT, 'node_modules', name), join(project, 'node_modules', name));
  }
  writeFileSync(join(project, 'example.mts'), examples.map(([, code]) => code).join(''));
  writeFileSync(
    join(project, 'common.cts'),
    `import { type Order, type Pet, PetStoreError, type StoreEvent, createPetStoreClient } from '@petstore/client';
     const pet: Pet = { id: 1, name: 'Ada', categoryId: 1, status: 'sold' };
     export const alwaysThere = (order: Order): Required<Omit<Order, 'shipDate'>> => order;
     export const textOf = (event: StoreEvent) =>
       event.type === 'pet.created' ? event.data.status.toUpperCase()
       : event.type === 'order.placed' ? event.data.quantity.toFixed()
       : event.id;
     console.log(typeof createPetStoreClient, typeof PetStoreError, pet.name);`,
  );
  writeFileSync(
    join(project, 'wrong.mts'),
    `import { type PetStoreError, all, createPetStoreClient, verifyWebhook } from '@petstore/client';
     const store = createPetStoreClient({ baseUrl: '', apiKey: 'a' });
     await store.createPet({ body: { name: 'Ada' } });
     await store.createPet({ body: { name: 'Ada', categoryId: 1, colour: 'red' } });
     await store.nope();
     await store.getPet({ path: { petId: '1' } });
     await store.getPet();
     await store.placeOrder({ body: { petId: 1 }, header: { 'If-Mach': '"a"' } });
     for await (const { name } of all(store.listPets, { query: { status: ['gone'] } })) console.log(name);
     for await (const { nmae } of all(store.listPets)) console.log(nmae);
     const units: number = (await store.getOrder({ path: { orderId: 1 } })).data.quantity;
     const isWrong = (error: PetStoreError) => error.code === 'pet_not_fuond';
     const next: string = (await store.listPets()).next;
     for await (const { data: [event] } of store.followEvents()) if (event?.type === 'order.placed') console.log(event.data.nmae);
     const received = verifyWebhook({}, '', '');
     if (received.type === 'webhook.test') console.log(received.data);
     else if (received.type === 'order.placed') console.log(received.data.quantity.toFixed(), received.data.nmae);
     const text: string = (await store.getOrder({ path: { orderId: 1 } })).data;
     const ids: number[] = (await store.listPets()).data;
     const mayBeAbsent: string = (await store.getOrder({ path: { orderId: 1 } })).data.shipDate;`,
  );
  writeFileSync(
    join(project, 'old.ts'),
    `import { type Order, createPetStoreClient } from '@petstore/client';
     export const units = (order: Order) => [order.quantity.toFixed(), createPetStoreClient];`,
  );
  const options = '--strict --exactOptionalPropertyTypes --target es2022 --lib es2022 --skipLibCheck';
  const modern = '--types node --module nodenext common.cts wrong.mts example.mts';
  // The file uses no types of Node, which the compiler would read for a second.
  const old = '--types --module commonjs --moduleResolution node10 --noEmit old.ts';
  complaints = '';
  for (const more of [modern, old]) complaints += await run([COMPILER, ...`${options} ${more}`.split(' ')]);
});

it('It works with import and with require, in the README, and its types reject what is not in the document', async () => {
  const found = [...complaints.matchAll(/^(.+)\((\d+),\d+\): error/gm)].map(
    ([, file, line]) => `${file}:${line}`,
  );
  expect([...new Set(found)]).toEqual(
    [3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 17, 18, 19, 20].map((line) => `wrong.mts:${line}`),
  );
  expect(complaints).toContain("Type 'Order' is not assignable to type 'string'");
  expect(complaints).toContain("Type 'Pet[]' is not assignable to type 'number[]'");
  expect(await run(['common.cjs'])).toBe('function function Ada\n');
});

it('The examples of the README run as written', async () => {
  const { key } = await service.issueKey({ plan: 'free' });
  expect(await run(['example.mjs'], { PETSTORE_URL: service.url, PETSTORE_KEY: key })).toMatch(
    /^Order \d+: 1 × Ada\nPet \d+ .*\n(\d+ Ada\n)+55 requests left\nnot_modified\nevt_\w+ \d+ 1\nWebhook \d+\. Keep its secret/,
  );
});

it('The program of the guide on clients runs as written, again too', async () => {
  writeFileSync(join(project, 'sdk.mjs'), fileIn('clients', 'sdk.mjs'));
  const { key: KEY } = await service.issueKey({ plan: 'free' });
  for (let round = 0; round < 2; round += 1) {
    expect(await run(['sdk.mjs'], { BASE: service.url, KEY })).toBe('1 false\nAda\n');
  }
});

it('A bundle of it needs only what browsers provide', async () => {
  const { key } = await service.issueKey({ plan: 'free' });
  const classes = 'AbortController AbortSignal FormData Headers Request Response URL URLSearchParams';
  const names = `${classes} crypto fetch performance setTimeout clearTimeout`.split(' ');
  const provided = names.map((name) => [name, globalThis[name as keyof typeof globalThis]]);
  const context = createContext(Object.fromEntries(provided)) as { client: typeof Client };
  // The package becomes one file, as a page would load it.
  const { outputFiles } = await build({
    absWorkingDir: project,
    stdin: { contents: `export * from '@petstore/client'`, resolveDir: project },
    bundle: true,
    platform: 'browser',
    format: 'iife',
    globalName: 'client',
    write: false,
  });
  new Script(outputFiles[0]!.text).runInContext(context);
  const { createPetStoreClient } = context.client;
  const store = createPetStoreClient({ baseUrl: service.url, apiKey: key });
  const { data: category } = await store.createCategory({ body: { name: 'Dogs' } });
  const { data: pet } = await store.createPet({ body: { name: 'Ada', categoryId: category.id } });
  expect((await store.listPets({ query: { id: [pet.id] } })).data).toEqual([pet]);
});

type Sampled = Operation & { 'x-codeSamples': { label: string; source: string }[] };

/** A character that ends the output of each sample. */
const END = '\u0004';
const JAVASCRIPT = `for (const file of process.argv.slice(1)) {
  await import(file);
  process.stdout.write('${END}');
}`;
const PYTHON = `import runpy, sys
for file in sys.argv[1:]:
    runpy.run_path(file)
    print(end='${END}')`;
const SHELL = `set -e; for file; do . "$file"; printf '${END}'; done`;
const NODE = [process.execPath, '--input-type=module', '-e', JAVASCRIPT];

/** The file name extension of each language, and a command that runs many files in one process, because one process each would take a minute. */
const RUNS: Record<string, { ending: string; command: string[] }> = {
  curl: { ending: '.sh', command: ['sh', '-c', SHELL, 'sh'] },
  JavaScript: { ending: '.mjs', command: NODE },
  Python: { ending: '.py', command: ['python3', '-c', PYTHON] },
  SDK: { ending: '.sdk.mjs', command: NODE },
};

test.each(Object.keys(RUNS))(
  'On a fresh store, the %s samples of all operations run in the order of the document as they are, and print the documented success; but for those of webhooks',
  async (label) => {
    const fresh = await startService();
    try {
      await fresh.app.get(SeedService).seed(false);
      const { key } = await fresh.issueKey();
      const { ending, command } = RUNS[label]!;
      const { body } = await fresh.anonymous().get<typeof fresh.document>('/docs/openapi.json');
      const operations = [...operationsOf(body)].filter(([name]) => !name.includes('/webhooks'));
      expect(operations).toHaveLength(24);
      const files = operations.map(([, operation], index) => {
        const { 'x-codeSamples': samples } = operation as Sampled;
        expect(samples.map((sample) => sample.label)).toEqual(Object.keys(RUNS));
        const file = `./${index}${ending}`;
        writeFileSync(join(project, file), samples.find((sample) => sample.label === label)!.source);
        return file;
      });
      const [program, ...args] = command;
      const all = await run([...args, ...files], { PETSTORE_KEY: key }, program);
      const printed = all.split(END).slice(0, -1);
      expect(printed.map((text, index) => [operations[index]?.[0], text.replace(/^HTTP\/1.1 /, '')])).toEqual(
        operations.map(([name, { responses }]) => {
          const success = Object.keys(responses).find((status) => status.startsWith('2'));
          return [name, expect.stringMatching(new RegExp(`^${success} `))];
        }),
      );
    } finally {
      await fresh.close();
    }
  },
);
