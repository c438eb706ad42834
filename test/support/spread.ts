import type { ApiCaller } from './api-caller';

/** Sends that many requests from many connections at once, to the callers in turn. */
export async function spread<Result>(
  callers: ApiCaller[],
  count: number,
  send: (caller: ApiCaller, index: number) => Promise<Result>,
  connections = 30,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const work = async () => {
    for (let index = next++; index < count; index = next++) {
      results.push(await send(callers[index % callers.length]!, index));
    }
  };
  await Promise.all(Array.from({ length: connections }, work));
  return results;
}

/** How many there are of each. */
export function tally(values: (string | number)[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const value of values) {
    counts[value] = (counts[value] ?? 0) + 1;
  }
  return counts;
}
