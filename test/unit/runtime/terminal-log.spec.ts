import { Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { createLogger, terminalLog } from '../../../src/runtime/logging';
import { until } from '../../support/eventually';

test('On a terminal a request is one readable line that ends with its caller', async () => {
  let text = '';
  const screen = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString();
      done();
    },
  });
  const logger = createLogger('info', await terminalLog(screen));
  const request = { reqId: 'one', method: 'GET', operation: '/pets/:petId', status: 200, ms: 1.5 };
  logger.info({ ...request, clientId: 7, keyId: 8 }, 'request');
  logger.warn({ context: 'Quotas' }, 'Redis is away.');
  await until(() => text.includes('Redis is away.'));
  const [first, second] = stripVTControlCharacters(text).split('\n');
  expect(first).toMatch(
    /^\[\d\d:\d\d:\d\d\.\d{3}\] INFO: request: GET \/pets\/:petId 200 in 1\.5 ms \{"reqId":"one","clientId":7,"keyId":8\}$/,
  );
  expect(second).toMatch(/WARN: Redis is away\. \{"context":"Quotas"\}$/);
});
