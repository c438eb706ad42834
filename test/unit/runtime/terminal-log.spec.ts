import { Writable } from 'node:stream';
import { createLogger, terminalLog } from '../../../src/runtime/logging';
import { until } from '../../support/eventually';

/** The request's line as the log of requests writes it. */
const REQUEST = {
  reqId: 'one',
  method: 'GET',
  operation: '/pets/:petId',
  status: 200,
  ms: 1.5,
  clientId: 7,
  keyId: 8,
};
const COLOUR = /\u001b\[/;

/** A terminal that keeps what is written on it. */
class Screen extends Writable {
  readonly isTTY = true;
  text = '';

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

async function shown(environment: Record<string, string>): Promise<string> {
  const screen = new Screen();
  const logger = createLogger('info', await terminalLog(screen, environment));
  logger.info(REQUEST, 'request');
  logger.warn({ context: 'Quotas' }, 'Redis is away.');
  await until(() => screen.text.includes('Redis is away.'));
  return screen.text;
}

test('On a terminal a request is one readable line that ends with its caller', async () => {
  const [request = '', warning = ''] = (await shown({ NO_COLOR: '1' })).split('\n');
  expect(request).toMatch(
    /^\[\d\d:\d\d:\d\d\.\d{3}\] INFO: GET \/pets\/:petId 200 in 1\.5 ms \{"reqId":"one","clientId":7,"keyId":8\}$/,
  );
  expect(warning).toMatch(/WARN: Redis is away\. \{"context":"Quotas"\}$/);
});

test('It has colours, unless they are switched off', async () => {
  expect(await shown({})).toMatch(COLOUR);
  expect(await shown({ NO_COLOR: '1' })).not.toMatch(COLOUR);
  expect(await shown({ TERM: 'dumb' })).not.toMatch(COLOUR);
});

test('Elsewhere the log stays JSON', async () => {
  expect(await terminalLog(new Writable(), {})).toBeUndefined();
});
