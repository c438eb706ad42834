import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { OpenAPIObject } from '@nestjs/swagger';
import Ajv from 'ajv';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';

interface Finding {
  rule: string;
  at: string;
  message: string;
}

const COMMITTED = readFileSync(join(__dirname, '../../../openapi.yaml'), 'utf8');
const JUDGING_MS = 250_000;

/** What Redocly finds in a document, by the rule files at the root. */
async function judge(document: string): Promise<Finding[]> {
  const child = spawn(process.execPath, [join(__dirname, 'support/judge.mjs')], {
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: JUDGING_MS,
    killSignal: 'SIGKILL',
  });
  child.stdin.end(document);
  const [verdicts, complaints] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (verdicts === '') {
    throw new Error(`The judge did not come to a verdict: ${complaints}`);
  }
  return JSON.parse(verdicts) as Finding[];
}

/** Each line, in place of the first one like it, breaks one of the rules that redocly.yaml adds to Redocly's own. */
const PLANTED: [rule: string, line: RegExp, replacement: string][] = [
  ['arrays-are-bounded', /\n +maxItems: .+/, ''],
  ['strings-are-bounded', /\n +maxLength: .+/, ''],
  ['strings-have-a-form', /\n +format: date-time/, ''],
  ['integers-have-a-format', /\n +format: int64/, ''],
  ['integers-have-a-minimum', /\n +minimum: .+/, ''],
  ['integers-have-a-maximum', /\n +maximum: .+/, ''],
  ['objects-are-closed-or-silent', /additionalProperties: false/, 'additionalProperties: true'],
  ['operations-need-a-key', /\n( +)operationId: .+/, '$&\n$1security: []'],
  ['operations-say-how-they-refuse', /"429":/, '"428":'],
];

it('Redocly, with what OWASP asks besides, finds no errors and no warnings in openapi.yaml', async () => {
  expect(await judge(COMMITTED)).toEqual([]);
});

it('Redocly finds what breaks the rules that are added to its own', async () => {
  const broken = PLANTED.reduce((text, [, line, replacement]) => text.replace(line, replacement), COMMITTED);
  const found = (await judge(broken)).filter(({ rule }) => rule.startsWith('rule/'));
  const planted = PLANTED.map(([rule]) => `rule/${rule}`);
  expect([...new Set(found.map(({ rule }) => rule))].sort()).toEqual(planted.sort());
});

it('The examples of header fields and all defaults are what their schemas allow', () => {
  const { components, paths } = parse(COMMITTED) as OpenAPIObject;
  const ajv = addFormats(new Ajv({ strict: false }));
  ['int32', 'int64'].forEach((format) => ajv.addFormat(format, true));
  const values: [schema: object, value: unknown][] = [];
  const collect = (part: unknown, name = ''): void => {
    if (typeof part !== 'object' || part === null) return;
    const { schema, example, ...other } = part as { schema?: object; example?: unknown; default?: unknown };
    if (schema && example !== undefined) values.push([schema, example]);
    if ('default' in other && name !== 'responses') values.push([part, other.default]);
    Object.entries(part).forEach(([key, value]) => collect(value, key));
  };
  collect({ components, paths });
  expect(values.length).toBeGreaterThan(30);
  expect(values.filter(([schema, value]) => !ajv.validate({ ...schema, components }, value))).toEqual([]);
});
