import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OpenAPIObject } from '@nestjs/swagger';
import ts from 'typescript';
import { describeInterface } from '../../../src/cli/describe-interface';
import { operationsOf } from '../../support/document';
import { ROOT } from '../../support/files';

const ORIGIN = 'https://pets.example';

/** Beside the page's module: what it shows for a request of every operation, and for some with more than that. */
const SAMPLES = `
  globalThis.location = { origin: '${ORIGIN}' };
  const { readFileSync } = await import('node:fs');
  const served = JSON.parse(readFileSync(0, 'utf8'));
  const asked = ({ headers, ...request }) => new Map(Object.entries({ ...request, headers: new Map(Object.entries(headers)) }));
  const example = (path, method) => exampleRequest(served, path, method);
  const all = Object.entries(served.paths).flatMap(([path, item]) => Object.keys(item).map((method) => example(path, method)));
  const pets = example('/pets', 'get');
  pets.url += '?id=1&id=2&status=sold&name=re&limit=2';
  const events = example('/events', 'get');
  events.url += '?wait=20&type=order.placed';
  const order = example('/store/orders', 'post');
  const pet = example('/pets/{petId}', 'put');
  pet.headers['If-Match'] = '"tag"';
  const category = example('/categories/{categoryId}', 'get');
  category.headers['If-None-Match'] = '"tag"';
  const requests = [...all, category, pets, events, order, pet].map(asked);
  console.log(JSON.stringify(requests.map((request) => [typescript(served, request), python(served, request)])));`;

let document: OpenAPIObject;
let samples: [typescript: string, python: string][];
beforeAll(async () => {
  const input = await describeInterface('json');
  document = JSON.parse(input) as OpenAPIObject;
  const module = readFileSync(join(ROOT, 'src/http/document/browser/samples.js'), 'utf8');
  const program = ['--input-type=module', '--eval', `${module}\n${SAMPLES}`];
  const output = execFileSync(process.execPath, program, { input, encoding: 'utf8' });
  samples = JSON.parse(output) as typeof samples;
});

/** What the compiler says of programs that use the client. */
function complaintsAbout(programs: string[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-samples-'));
  const files = programs.map((text, index) => {
    const file = join(folder, `${index}.mts`);
    writeFileSync(file, text);
    return file;
  });
  const program = ts.createProgram(files, {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    typeRoots: [join(ROOT, 'node_modules/@types')],
    types: ['node'],
    paths: { '@petstore/client': [join(ROOT, 'libs/client/src/index.ts')] },
  });
  const found = ts.getPreEmitDiagnostics(program);
  rmSync(folder, { recursive: true });
  return found.map(
    ({ file, messageText }) => `${file?.text}\n${ts.flattenDiagnosticMessageText(messageText, '\n')}`,
  );
}

it('Every sample in TypeScript compiles against the client', () => {
  const programs = samples.map(([program]) => program);
  expect(programs.length).toBeGreaterThan(operationsOf(document).size);
  expect(complaintsAbout(programs)).toEqual([]);
});

it('The samples send the documented requests, and contain no key', () => {
  const [pets, events, order, pet] = samples.slice(-4);
  expect(pets![0]).toContain('store.pets.list({\n  limit: 2,\n  status: [\n    "sold"\n  ],\n');
  expect(events![0]).toContain('of store.events({\n  types: [\n    "order.placed"\n  ],\n  follow: true\n})');
  expect(order![0]).toContain('idempotencyKey: "order-2026-1"');
  expect(pet![0]).toContain('ifMatch: "\\"tag\\""');
  expect(order![1]).toContain(`response = requests.post(
    "${ORIGIN}/store/orders",
    headers={"X-API-Key": os.environ["PETSTORE_KEY"], "Idempotency-Key": "order-2026-1"},
    json={
        "petId": 1
    },
)`);
  expect(samples.flat().filter((text) => text.includes('psk_live_'))).toEqual([]);
});
