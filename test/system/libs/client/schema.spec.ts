import { execFileSync } from 'node:child_process';
import { describeInterface } from '../../../../src/cli/describe-interface';
import { ROOT, read } from '../../../support/files';

let document: string;
beforeAll(async () => {
  document = await describeInterface('json');
});

it('Types and routes match the document; `npm run generate` updates them', () => {
  // The generator is an ES module, which jest does not load.
  const script = `${ROOT}/libs/client/scripts/generate.mjs`;
  const generated = execFileSync(process.execPath, [script], { input: document, encoding: 'utf8' });
  expect(generated).toBe(read('libs/client/src/generated/api.ts'));
});

it('Exactly the POST operations of the document accept an Idempotency-Key, as the client assumes', () => {
  const { paths } = JSON.parse(document) as {
    paths: Record<string, Record<string, { parameters: object[] }>>;
  };
  const operations = Object.values(paths).flatMap((methods) => Object.entries(methods));
  const taking = operations.filter(([, { parameters }]) =>
    JSON.stringify(parameters).includes('Idempotency-Key'),
  );
  expect(new Set(taking.map(([method]) => method))).toEqual(new Set(['post']));
  expect(taking.length).toBe(operations.filter(([method]) => method === 'post').length);
});
