import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SeedService } from '../../../src/runtime/seed';
import { type Operation, operationsOf } from '../../support/document';
import { useFolder } from '../../support/files';
import { installSdk } from '../../support/sdk';
import { startService } from '../../support/service';

interface Sample {
  lang: string;
  label: string;
  source: string;
}

const folder = useFolder();

beforeAll(() => installSdk(folder));

/** How a reader runs a sample of each language: the name of the file, and the program. */
const RUNS: Record<string, [file: string, program: string]> = {
  curl: ['sample.sh', 'sh'],
  JavaScript: ['fetch.mjs', process.execPath],
  Python: ['sample.py', 'python3'],
  SDK: ['sdk.mjs', process.execPath],
};

test.each(Object.keys(RUNS))(
  'On a fresh store, the %s samples of all operations run in the order of the document as they are, and print the documented success; but for those of webhooks',
  async (label) => {
    const service = await startService();
    try {
      await service.app.get(SeedService).seed(false);
      const { key } = await service.issueKey();
      const [file, program] = RUNS[label]!;
      const env = { PATH: process.env.PATH, PETSTORE_KEY: key };
      const { body } = await service.anonymous().get<typeof service.document>('/docs/openapi.json');
      const operations = [...operationsOf(body)].filter(([name]) => !name.includes('/webhooks'));
      expect(operations).toHaveLength(24);
      for (const [name, operation] of operations) {
        const { 'x-codeSamples': samples } = operation as Operation & { 'x-codeSamples': Sample[] };
        expect(samples.map((sample) => sample.label)).toEqual(Object.keys(RUNS));
        const { source } = samples.find((sample) => sample.label === label)!;
        writeFileSync(join(folder, file), source);
        const { stdout } = await promisify(execFile)(program, [file], { cwd: folder, env });
        const success = Object.keys(operation.responses).find((status) => status.startsWith('2'));
        expect([name, stdout.replace(/^HTTP\/1.1 /, '')]).toEqual([
          name,
          expect.stringMatching(new RegExp(`^${success} `)),
        ]);
      }
    } finally {
      await service.close();
    }
  },
);
