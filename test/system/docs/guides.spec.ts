import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SeedService } from '../../../src/runtime/seed';
import { type TestService, startService } from '../../support/service';
import { GUIDES } from '../../../src/http/document/guides';
import { blocksOf, pagesWithSteps, readGuide } from '../../support/guide-steps';
import { compared, runGuide } from './support/run-guide';

let service: TestService;
let clock: Server;

beforeAll(async () => {
  service = await startService();
  // The command line is a process of its own, and has the real time.
  service.clock.set(Date.now());
  await service.app.get(SeedService).seed();
  clock = createServer((request, response) => {
    service.clock.advance(Number(request.url!.slice(1)) * 1_000);
    response.end();
  }).listen(0, '127.0.0.1');
  await once(clock, 'listening');
});
afterAll(async () => {
  clock.close();
  await service.close();
});

/** A guide that uses up a window and is banned cannot be followed again by the same client. */
const SPENDS = 'docs/guides/limits.md';

describe.each(pagesWithSteps())('$name', ({ name, steps }) => {
  const printed: string[][] = [];

  const times = name === SPENDS ? ['the first'] : ['the first', 'the second'];

  beforeAll(async () => {
    const { key: KEY } = await service.issueKey({ plan: 'free' });
    const CLOCK = `http://127.0.0.1:${(clock.address() as AddressInfo).port}`;
    for (const _time of times) {
      // A minute in which neither this client nor this address has sent anything.
      service.clock.advance(120_000);
      printed.push(await runGuide(steps, { KEY, BASE: service.url, CLOCK }));
    }
  });

  const runs = times.flatMap((time, run) => steps.map((step, index) => ({ ...step, index, run, time })));

  it.each(runs)('works in line $line $time time', ({ run, index, shown }) => {
    // What follows the last command is the end of the output: a shell that broke off has printed less.
    expect(printed[run]).toHaveLength(steps.length + 1);
    if (shown) {
      const [actual, wanted] = compared(shown, printed[run]![index]!);
      expect(actual).toMatch(wanted);
    } else {
      expect(printed[run]![index]).toBe('');
    }
  });
});

/** Blocks that are run by no test: the reader's own values, and what would be installed from elsewhere. */
const NOT_RUN = /^(export )?(BASE|KEY)=|^npm |^npx /;
/** Programs, and the tests that run them. */
const PROGRAMS = ['follow.mjs', 'receive.mjs', 'verify.mjs', 'verify.py', 'verify.go', 'sdk.mjs'];

it('Every block of every guide is run, or is something that is read', () => {
  const blocks = GUIDES.flatMap((name) => blocksOf(readGuide(name)));
  const left = blocks.filter(({ language, name, text }) => {
    const isRun = name === 'run' || PROGRAMS.includes(name ?? '') || NOT_RUN.test(text);
    return !isRun && !['http', 'json', 'text'].includes(language);
  });
  expect(left).toEqual([]);
});
