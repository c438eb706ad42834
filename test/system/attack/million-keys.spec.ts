import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { FastifyRequest } from 'fastify';
import { Authenticator } from '../../../src/modules/auth';
import { newApiKey } from '../../../src/modules/auth/api-key';
import { RequestLimiter } from '../../../src/modules/quotas';
import { useService } from '../../support/use-service';

const service = useService();

const ATTEMPTS = 100_000;
/** One key in so many could be one: it has to be looked for in the database. The others are told by their checksum. */
const WELL_FORMED_EVERY = 50;
const AT_ONCE = 2_000;
const MOST_MEGABYTES = 60;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function heapMegabytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

/** The part of a request that is looked at to tell who sent it; every one from another IPv6 network. */
function attempt(index: number): FastifyRequest {
  const key = index % WELL_FORMED_EVERY === 0 ? newApiKey() : `psk_live_${String(index).padStart(36, '0')}`;
  const ip = `2001:${(index >> 16).toString(16)}:${(index & 65_535).toString(16)}:100::1`;
  return { headers: { 'x-api-key': key }, ip } as unknown as FastifyRequest;
}

it('A hundred thousand wrong keys, each from its own address, are all refused and use hardly any memory', async () => {
  const authenticator = service.app.get(Authenticator);
  const limiter = service.app.get(RequestLimiter);
  const before = heapMegabytes();
  let refused = 0;
  for (let first = 0; first < ATTEMPTS; first += AT_ONCE) {
    const requests = Array.from({ length: AT_ONCE }, (_none, index) => attempt(first + index));
    await Promise.all(
      requests.map(async (request) => {
        await authenticator.identify(request);
        await limiter.take(request);
        refused += request.caller?.holder === null ? 1 : 0;
      }),
    );
  }
  expect(refused).toBe(ATTEMPTS);
  expect(heapMegabytes() - before).toBeLessThan(MOST_MEGABYTES);
  expect((await (await service.caller()).get('/pets')).status).toBe(200);
}, 600_000);
