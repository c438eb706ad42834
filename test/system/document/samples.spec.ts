import { build } from 'esbuild';
import { execFile } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SeedService } from '../../../src/runtime/seed';
import { type Operation, operationsOf } from '../../support/document';
import { ROOT, useFolder } from '../../support/files';
import { startService } from '../../support/service';

interface Sample {
  lang: string;
  label: string;
  source: string;
}

const folder = useFolder();

/** Installs the SDK in the folder of the samples. Its types are checked where its package is tested. */
beforeAll(async () => {
  const installed = join(folder, 'node_modules/@petstore/client');
  const [outfile, index] = [join(installed, 'lib/index.js'), join(ROOT, 'libs/client/src/index.ts')];
  await build({ entryPoints: [index], outfile, bundle: true, platform: 'node', format: 'esm' });
  copyFileSync(join(ROOT, 'libs/client/package.json'), join(installed, 'package.json'));
});

/** Ends what a sample printed. */
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

/** Ends of file names of each language, and a command that runs files one after another: a process each would take a minute. */
const RUNS: Record<string, { ending: string; command: string[] }> = {
  curl: { ending: '.sh', command: ['sh', '-c', SHELL, 'sh'] },
  JavaScript: { ending: '.mjs', command: NODE },
  Python: { ending: '.py', command: ['python3', '-c', PYTHON] },
  SDK: { ending: '.sdk.mjs', command: NODE },
};

test.each(Object.keys(RUNS))(
  'On a fresh store, the %s samples of all operations run in the order of the document as they are, and print the documented success; but for those of webhooks',
  async (label) => {
    const service = await startService();
    try {
      await service.app.get(SeedService).seed(false);
      const { key } = await service.issueKey();
      const { ending, command } = RUNS[label]!;
      const { body } = await service.anonymous().get<typeof service.document>('/docs/openapi.json');
      const operations = [...operationsOf(body)].filter(([name]) => !name.includes('/webhooks'));
      expect(operations).toHaveLength(24);
      const files = operations.map(([, operation], index) => {
        const { 'x-codeSamples': samples } = operation as Operation & { 'x-codeSamples': Sample[] };
        expect(samples.map((sample) => sample.label)).toEqual(Object.keys(RUNS));
        const file = `./${index}${ending}`;
        writeFileSync(join(folder, file), samples.find((sample) => sample.label === label)!.source);
        return file;
      });
      const [program, ...args] = command;
      const env = { PATH: process.env.PATH, PETSTORE_KEY: key };
      const { stdout } = await promisify(execFile)(program!, [...args, ...files], { cwd: folder, env });
      const printed = stdout.split(END).slice(0, -1);
      expect(printed.map((text, index) => [operations[index]?.[0], text.replace(/^HTTP\/1.1 /, '')])).toEqual(
        operations.map(([name, { responses }]) => {
          const success = Object.keys(responses).find((status) => status.startsWith('2'));
          return [name, expect.stringMatching(new RegExp(`^${success} `))];
        }),
      );
    } finally {
      await service.close();
    }
  },
);
