// Checks versions of openapi.yaml, which it reads as a JSON array of texts from standard input, by redocly.yaml. It is a program of its own,
// because Redocly is an ES module, which Jest does not load.

import { resolve } from 'node:path';
import { json } from 'node:stream/consumers';
import { lintFromString, loadConfig } from '@redocly/openapi-core';

const ROOT = resolve(import.meta.dirname, '../../../..');
const config = await loadConfig({ configPath: resolve(ROOT, 'redocly.yaml') });
const verdicts = [];
for (const source of await json(process.stdin)) {
  const findings = await lintFromString({ source, absoluteRef: resolve(ROOT, 'openapi.yaml'), config });
  verdicts.push(
    findings
      .filter(({ ignored }) => !ignored)
      .map(({ ruleId, location, message }) => ({ rule: ruleId, at: location[0]?.pointer ?? '', message })),
  );
}
process.stdout.write(JSON.stringify(verdicts));
