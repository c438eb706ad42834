import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { OpenAPIObject } from '@nestjs/swagger';
import { parse, stringify } from 'yaml';

interface Finding {
  rule: string;
  at: string;
  message: string;
}

const COMMITTED = readFileSync(join(__dirname, '../../../openapi.yaml'), 'utf8');
const JUDGING_MS = 250_000;

/** What Spectral and Redocly find in each of these documents, by the rule files at the root. */
async function judge(documents: string[]): Promise<Finding[][]> {
  const child = spawn(process.execPath, [join(__dirname, 'support/judge.mjs')], {
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: JUDGING_MS,
    killSignal: 'SIGKILL',
  });
  child.stdin.end(JSON.stringify(documents));
  const [verdicts, complaints] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (verdicts === '') {
    throw new Error(`The judges did not come to a verdict: ${complaints}`);
  }
  return JSON.parse(verdicts) as Finding[][];
}

/** One operation of the document, which is judged in no time, with things in it that the judges must not let pass. */
function planted(): string {
  const document = parse(COMMITTED) as OpenAPIObject & { paths: Record<string, { get: object }> };
  const { get } = document.paths['/usage']!;
  document.paths = { '/usage': { get } };
  const { responses } = get as { responses: Record<string, unknown> };
  delete responses[401];
  delete responses[429];
  Object.assign(get, { operationId: 'get usage', tags: ['Nobody'] });
  const { Usage, UsageDay } = document.components!.schemas as Record<string, { properties: object }>;
  Object.assign(Usage!.properties, { days: { type: 'array', items: { type: 'string' } } });
  Object.assign(UsageDay!.properties, { date: { type: 'string', enum: [1], example: 2 } });
  delete document.tags!.find(({ name }) => name === 'Account')!.description;
  return stringify(document);
}

let findings: Finding[][];
beforeAll(async () => {
  findings = await judge([COMMITTED, planted()]);
}, JUDGING_MS);

it('Spectral, with the OWASP rules, and Redocly find no errors and no warnings in openapi.yaml', () => {
  // What the receiver of a webhook answers is not ours to promise, nor who may call it.
  const ours = findings[0]!.filter(
    ({ at, rule }) => !(at.includes('/callbacks/') && rule.startsWith('owasp:')),
  );
  expect(ours).toEqual([]);
});

it('Both report planted faults', () => {
  expect([...new Set(findings[1]!.map(({ rule }) => rule))]).toEqual(
    expect.arrayContaining([
      'operation-operationId-valid-in-url',
      'operation-tag-defined',
      'oas3-valid-media-example',
      'owasp:api4:2023-array-limit',
      'owasp:api4:2023-string-limit',
      'owasp:api4:2023-rate-limit-responses-429',
      'owasp:api8:2023-define-error-responses-401',
      'tag-description',
      'operation-operationId-url-safe',
      'no-invalid-media-type-examples',
      'no-unused-components',
    ]),
  );
});
