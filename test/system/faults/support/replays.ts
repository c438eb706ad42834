import type { InsistentClient } from './insistent-client';
import type { KeyedRequest } from './mixed-load';

const AT_ONCE = 8;

/** Sends everything once more. @returns what is not answered as it was, to the byte, and said to be a replay */
export async function wrongReplays(client: InsistentClient, keyed: KeyedRequest[]): Promise<unknown[]> {
  const wrong: unknown[] = [];
  const waiting = [...keyed];
  const worker = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { status, text } = next.settled;
      const replay = await client.settle(next.request);
      if (!replay.replayed || replay.status !== status || replay.text !== text) {
        wrong.push({ ...next, replay });
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return wrong;
}
