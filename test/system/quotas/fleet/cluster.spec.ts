import type { ApiClient } from '../../../support/api-client';
import { until } from '../../../support/eventually';
import { RedisCluster } from './support/redis-cluster';
import type { RedisServer } from '../../../support/redis-server';
import { spread, tally } from '../../../support/spread';
import { COUNTED, statuses } from '../../../support/limits';
import { Pair } from './support/pair';

const LIMIT = 60;
/** Of the limit, for either of the two instances. */
const SHARE = 30;
const MOST_CLIENTS = 60;

let cluster: RedisCluster;
let pair: Pair;

beforeAll(async () => {
  cluster = await RedisCluster.start();
  pair = await Pair.start(cluster.url);
});
afterAll(async () => {
  await pair?.close();
  await cluster?.close();
});

/** A new free client whose counts this node holds, with a caller for either instance. */
async function aClientOf(node: RedisServer): Promise<ApiClient[]> {
  for (let clients = 0; clients < MOST_CLIENTS; clients += 1) {
    const { clientId, callers } = await pair.client({ plan: 'free' });
    if ((await cluster.holderOf(`petstore:{client:${clientId}}:counts`)) === node) {
      return callers;
    }
  }
  throw new Error(`None of ${MOST_CLIENTS} clients is held by that node.`);
}

async function outcomes(callers: ApiClient[], requests: number): Promise<Record<string, number>> {
  const answers = await spread(callers, requests, (caller) => caller.get(COUNTED), 8);
  return tally(answers.map(({ status }) => status));
}

test('two instances count exactly, whichever node has the client', async () => {
  for (const node of cluster.nodes) {
    expect(await outcomes(await aClientOf(node), LIMIT + 8)).toEqual({ 200: LIMIT, 429: 8 });
  }
});

test('they count their shares while the node of a client is down, and together again afterwards', async () => {
  const node = cluster.nodes[1]!;
  const [one, ...further] = [await aClientOf(node), await aClientOf(node), await aClientOf(node)];
  await node.stop();
  await until(async () => {
    // One after another: requests that fail together are one failure.
    const answered = [...(await statuses(one[0]!, 1)), ...(await statuses(one[1]!, 1))];
    expect(answered).toEqual([200, 200]);
    return pair.degraded.every(Boolean);
  });
  for (const caller of further[0]) {
    expect(tally(await statuses(caller, SHARE + 4))).toEqual({ 200: SHARE, 429: 4 });
  }

  await node.start();
  await cluster.untilWhole();
  await until(() => !pair.degraded.some(Boolean));
  expect(await outcomes(further[1], LIMIT + 8)).toEqual({ 200: LIMIT, 429: 8 });
});
