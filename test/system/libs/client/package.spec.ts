import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { type Context, compileFunction, createContext } from 'node:vm';
import type * as Client from '#libs/client';
import { useService } from '../../../support/use-service';

const ROOT = resolve(__dirname, '../../../..');
const service = useService();
let project: string;
/** What the compiler says of the project. */
let complaints: string;

/** Runs a program to its end; its output, or what it complained of. */
function run(args: string[], environment: NodeJS.ProcessEnv = {}): Promise<string> {
  return new Promise((done) => {
    const options = { cwd: project, env: { PATH: process.env.PATH, ...environment } };
    execFile(process.execPath, args, options, (error, stdout, stderr) => {
      done(error ? `${error.message}\n${stdout}${stderr}` : stdout);
    });
  });
}

/** The programs in a README, by the names that their files get. */
function examplesOf(readme: string, name: string): [file: string, code: string][] {
  const blocks = readFileSync(join(ROOT, readme), 'utf8').matchAll(/```ts\n(.*?)```/gs);
  return [...blocks].map(([, code], index) => [`${name}-${index}`, code!]);
}

const examples = examplesOf('libs/client/README.md', 'example');
/** It names the port of a first start, so it is compiled only. */
const compiledOnly = examplesOf('README.md', 'root');

/** A project that has the package installed, with the examples of the README, a use from CommonJS, and mistakes. */
beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), 'petstore-client-'));
  mkdirSync(join(project, 'node_modules/@petstore'), { recursive: true });
  for (const name of ['openapi-fetch', 'openapi-typescript-helpers', '@types', 'undici-types']) {
    symlinkSync(join(ROOT, 'node_modules', name), join(project, 'node_modules', name));
  }
  const installed = join(project, 'node_modules/@petstore/client');
  expect(await run([join(ROOT, 'libs/client/scripts/build.mjs'), installed])).toBe('');
  for (const [file, code] of [...examples, ...compiledOnly]) {
    writeFileSync(join(project, `${file}.mts`), code);
  }
  writeFileSync(
    join(project, 'common.cts'),
    `import { type Schemas, PetStoreError, createPetStoreClient } from '@petstore/client';
     const pet: Schemas['Pet'] = { id: 1, name: 'Ada', categoryId: 1 };
     console.log(typeof createPetStoreClient, typeof PetStoreError, pet.name);`,
  );
  writeFileSync(
    join(project, 'wrong.mts'),
    `import { createPetStoreClient } from '@petstore/client';
     const store = createPetStoreClient({ baseUrl: '', apiKey: 'a' });
     await store.POST('/pets', { body: { name: 'Ada' } });
     await store.POST('/pets', { body: { name: 'Ada', categoryId: 1, colour: 'red' } });
     await store.GET('/nope');
     await store.GET('/pets/{petId}');
     store.iterate('/usage');
     const path = { categoryId: 1 };
     const { data } = await store.GET('/categories/{categoryId}', { params: { path, header: { 'If-None-Match': '"a"' } } });
     console.log(data.name);`,
  );
  const files = [...examples, ...compiledOnly].map(([file]) => `${file}.mts`);
  const options = '--strict --target es2022 --module nodenext --types node --skipLibCheck'.split(' ');
  complaints = await run([
    join(ROOT, 'node_modules/typescript/bin/tsc'),
    ...options,
    'common.cts',
    'wrong.mts',
    ...files,
  ]);
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

it('Its types are right for import and for require, and catch what the document does not have', () => {
  const found = [...complaints.matchAll(/^(.+)\((\d+),\d+\): error/gm)].map(
    ([, file, line]) => `${file}:${line}`,
  );
  expect(found).toEqual([3, 4, 5, 6, 7, 10].map((line) => `wrong.mts:${line}`));
});

it('It is loaded by require', async () => {
  expect(await run(['common.cjs'])).toBe('function function Ada\n');
});

it('The examples of the README run as they are written', async () => {
  const { key } = await service.issueKey({ plan: 'free' });
  const environment = { PETSTORE_URL: service.url, PETSTORE_KEY: key };
  const outputs: string[] = [];
  for (const [file] of examples) {
    outputs.push(await run([`${file}.mjs`], environment));
  }
  expect(outputs).toEqual([
    expect.stringMatching(/^Order \d+: 1 × Ada\nPet \d+ .*\n\d+ Ada\n55 requests left\n$/),
    '304 undefined\n',
  ]);
});

it('It runs where there is nothing but what browsers have', async () => {
  const { key } = await service.issueKey({ plan: 'free' });
  const { AbortSignal, Headers, Request, Response, URL, URLSearchParams } = globalThis;
  const web = {
    AbortSignal,
    Headers,
    Request,
    Response,
    URL,
    URLSearchParams,
    FormData,
    crypto,
    fetch,
    performance,
  };
  const timers = { setTimeout, clearTimeout };
  const warnings: string[] = [];
  const console = { warn: (warning: string) => warnings.push(warning) };
  const load = commonJsIn(createContext({ ...web, ...timers, console }));
  const { createPetStoreClient } = load('@petstore/client') as typeof Client;
  const store = createPetStoreClient({ baseUrl: service.url, apiKey: key });
  const { data: category } = await store.POST('/categories', { body: { name: 'Dogs' } });
  const { data: pet } = await store.POST('/pets', { body: { name: 'Ada', categoryId: category.id } });
  expect((await store.GET('/pets/{petId}', { params: { path: { petId: pet.id } } })).data).toEqual(pet);
  expect(warnings).toEqual([expect.stringMatching(/^Pet Store: GET \/pets\/\{petId\} is deprecated/)]);
});

/** Loads CommonJS modules of the project into a context, which need not have anything of Node. */
function commonJsIn(context: Context): (name: string) => unknown {
  const loadFrom = (from: string) => (name: string) => {
    const file = createRequire(from).resolve(name);
    const module = { exports: {} };
    const body = compileFunction(readFileSync(file, 'utf8'), ['module', 'exports', 'require'], {
      parsingContext: context,
    }) as (...scope: unknown[]) => void;
    body(module, module.exports, loadFrom(file));
    return module.exports;
  };
  return loadFrom(join(project, 'index.js'));
}
