import { mkdtempSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { GUIDES } from '../../../src/http/document/guides';
import { SeedService } from '../../../src/store/seed';
import { listen } from '../../support/ports';
import { read, useFolder } from '../../support/files';
import { type Block, blocksOf, readGuide } from '../../support/guides';
import { SpawnedProcess } from '../../support/spawned-process';
import { useService } from '../../support/use-service';

/** A command of a guide, with the output that the guide shows. */
interface Step {
  line: number;
  command: string;
  /** An `http` block has the answer of `curl -i`, and a `text` block the whole output. Null if the guide shows no output. */
  shown: { language: string; text: string } | null;
}

/** The README and all guides that have commands. An output that a block shows is that of the command right before it. */
function pagesWithSteps(): { name: string; steps: Step[] }[] {
  const guides = GUIDES.map((name) => ({ name: `docs/guides/${name}.md`, text: readGuide(name) }));
  return [{ name: 'README.md', text: read('README.md') }, ...guides]
    .map(({ name, text }) => ({ name, steps: stepsOf(blocksOf(text)) }))
    .filter(({ steps }) => steps.length > 0);
}

/** Programs whose output follows in the guide, each with its interpreter. */
const SCRIPTS: Record<string, string> = {
  'pages.mjs': 'node',
  'pages.py': 'python3',
  'send.mjs': 'node',
  'send.py': 'python3',
};

/** The commands and programs that are marked to be run. */
function stepsOf(blocks: Block[]): Step[] {
  return blocks.flatMap(({ name, line, text: command }, index) => {
    const { language, text = '' } = blocks[index + 1] ?? {};
    const shown = language === 'http' || language === 'text' ? { language, text } : null;
    const interpreter = SCRIPTS[name ?? ''];
    const script = `cat >${name} <<'${END}'\n${command}${END}\n${interpreter} ${name}`;
    return name === 'run' || interpreter ? [{ line, shown, command: interpreter ? script : command }] : [];
  });
}

const folder = useFolder();

/** A character that ends the output of each command. */
const END = '\u0004';

/** Replaces `sleep`. It waits only for the second in which the service writes its limits, and then moves the service's clock. */
const AS_IN_A_TEST = 'sleep() { command sleep 1; curl -s "$CLOCK/$1"; }\n';

/**
 * Runs all commands of a guide in one shell and an empty folder, as a reader would.
 * @returns the output of each command
 */
async function runGuide(steps: Step[], environment: Record<string, string>): Promise<string[]> {
  const script = steps.map(({ command }) => `${command}\nprintf '${END}'`).join('\n');
  const cwd = mkdtempSync(join(folder, 'guide-'));
  const shell = new SpawnedProcess(['sh', '-c', `${AS_IN_A_TEST}${script}`], {
    cwd,
    env: { PATH: process.env.PATH, ...environment },
    timeout: 250_000,
    killSignal: 'SIGKILL',
  });
  shell.child.stdin.end();
  await shell.ended;
  return shell.stdout.split(END);
}

/** Stands in a guide for the rest of a line, or for a value that is different each time. */
const LEFT_OUT = '…';

/** Expects that the output is what the guide shows. Of an answer, a guide may leave out fields and the body. */
function expectShown({ language, text }: NonNullable<Step['shown']>, printed: string): void {
  const [shown, actual] = [text, printed].map((one) => one.replaceAll('\r', '').trim()) as [string, string];
  if (language === 'text') {
    expect(actual).toMatch(patternOf(shown));
    return;
  }
  const [[head, body], [actualHead, actualBody]] = [partsOf(shown), partsOf(actual)];
  for (const line of head) expect(actualHead).toContainEqual(expect.stringMatching(patternOf(line)));
  // Guides show bodies with white space, and the service sends them without.
  if (body !== '') expect(bare(actualBody)).toMatch(patternOf(bare(body)));
}

/** Splits an answer into the lines of its head, with the names of fields in lower case, and its body. */
function partsOf(answer: string): [head: string[], body: string] {
  const [, head = '', body = ''] = /^(.*?)(?:\n\n(.*))?$/s.exec(answer)!;
  return [head.replace(/^[\w-]+:/gm, (name) => name.toLowerCase()).split('\n'), body];
}

function bare(body: string): string {
  return body.replaceAll(/\s/g, '');
}

function patternOf(text: string): RegExp {
  const parts = text.split(LEFT_OUT).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`);
}

const service = useService();
/** A server that moves the clock of the service by the seconds in the path of a request. */
const clock = createServer((request, response) => {
  service.clock.advance(Number(request.url!.slice(1)) * 1_000);
  response.end();
});
let CLOCK: string;

beforeAll(async () => {
  // The clock begins at the real time, because the commands of a guide run in processes with the real time.
  service.clock.set(Date.now());
  await service.app.get(SeedService).seed();
  CLOCK = `http://127.0.0.1:${await listen(clock)}`;
});
afterAll(() => clock.close());

/** A guide that runs only once, because its client is banned at the end. */
const SPENDS = 'docs/guides/limits.md';

describe.each(pagesWithSteps())('$name', ({ name, steps }) => {
  const printed: string[][] = [];

  const times = name === SPENDS ? ['the first'] : ['the first', 'the second'];

  beforeAll(async () => {
    const { key: KEY } = await service.issueKey({ plan: 'free' });
    for (const _time of times) {
      // All limits per minute begin anew.
      service.clock.advance(120_000);
      printed.push(await runGuide(steps, { KEY, BASE: service.url, CLOCK }));
    }
  });

  const runs = times.flatMap((time, run) => steps.map((step, index) => ({ ...step, index, run, time })));

  it.each(runs)('works in line $line $time time', ({ run, index, shown }) => {
    // Each command ends its output, so a shell that stopped early has printed fewer parts.
    expect(printed[run]).toHaveLength(steps.length + 1);
    if (shown) {
      expectShown(shown, printed[run]![index]!);
    } else {
      expect(printed[run]![index]).toBe('');
    }
  });
});

/** Blocks that no test runs: they have values of the reader, or install packages. */
const NOT_RUN = /^(export |PETSTORE_)?(BASE|KEY)=|^npm |^npx /;
/** The programs that this file and programs.spec.ts run. */
const PROGRAMS = Object.keys(SCRIPTS).concat(
  'follow.mjs receive.mjs verify.mjs verify.py verify.go sdk.mjs'.split(' '),
);

it('Every block of every guide is run, or is something that is read', () => {
  const blocks = GUIDES.flatMap((name) => blocksOf(readGuide(name)));
  const left = blocks.filter(({ language, name, text }) => {
    const isRun = name === 'run' || PROGRAMS.includes(name ?? '') || NOT_RUN.test(text);
    return !isRun && !['http', 'json', 'text'].includes(language);
  });
  expect(left).toEqual([]);
});

it('A guide that uses the variables says what they are, and its commands leave no file and fit a narrow window', () => {
  for (const text of GUIDES.map(readGuide).filter((one) => /\bBASE\b/.test(one))) {
    expect(text.replaceAll(/\s+/g, ' ')).toMatch(
      /`BASE`( is the service's address|, the address of the service)|variables: the commands/,
    );
    const lines = blocksOf(text).flatMap((block) => (block.language === 'sh' ? block.text.split('\n') : []));
    expect(lines.filter((line) => line.length > 80 || /\btee\b/.test(line))).toEqual([]);
  }
});
