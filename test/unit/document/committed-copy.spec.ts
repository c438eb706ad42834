import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeInterface } from '../../../src/cli/describe-interface';

/** Comes with @nestjs/swagger and reads YAML 1.1, in which an unquoted date is none of our texts; it brings no types. */
const { load } = jest.requireActual<{ load(text: string): unknown }>('js-yaml');

const committed = readFileSync(join(__dirname, '../../../openapi.yaml'), 'utf8');

it('openapi.yaml is up to date (`npm run generate` updates it)', async () => {
  expect(committed).toBe(await describeInterface('yaml'));
});

it('openapi.yaml means the same to YAML 1.1 parsers', async () => {
  expect(load(committed)).toEqual(JSON.parse(await describeInterface('json')));
});
