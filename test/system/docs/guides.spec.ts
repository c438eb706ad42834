import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SeedService } from '../../../src/runtime/seed';
import { type TestService, startService } from '../../support/service';
import { blocksOf, pagesWithSteps } from '../../support/guide-steps';
import { requireCurl, runGuide } from './support/run-guide';
import { compared } from './support/shown-output';

/** The longest guide sends 150 requests, each by a program of its own, and the machine may be busy. */
const RUN_MS = 300_000;

let service: TestService;
let clock: Server;

requireCurl();

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

describe.each(pagesWithSteps())('$name', ({ text: page, steps }) => {
  let printed: string[];

  beforeAll(async () => {
    // A minute in which neither this client nor this address has sent anything.
    service.clock.advance(120_000);
    const { key, keyId } = await service.issueKey({ plan: 'free' });
    printed = await runGuide(steps, {
      KEY: key,
      KEY_ID: String(keyId),
      BASE: service.url,
      CLOCK: `http://127.0.0.1:${(clock.address() as AddressInfo).port}`,
      DATABASE_URL: service.database.url,
    });
  }, RUN_MS);

  it.each(steps.map((step, index) => ({ ...step, index })))('works in line $line', ({ index, shown }) => {
    // What follows the last command is the end of the output: a shell that broke off has printed less.
    expect(printed).toHaveLength(steps.length + 1);
    if (shown) {
      const [actual, wanted] = compared(shown, printed[index]!);
      expect(actual).toMatch(wanted);
    } else {
      expect(printed[index]).toBe('');
    }
  });

  it('has run every command with curl', () => {
    const left = blocksOf(page).filter(
      ({ run, language, text }) => !run && language === 'sh' && text.includes('curl'),
    );
    expect(left).toEqual([]);
  });
});
