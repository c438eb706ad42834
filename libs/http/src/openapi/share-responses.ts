import type { ReferenceObject, ResponseObject } from '@nestjs/swagger';

type Responses = Record<string, ResponseObject | ReferenceObject>;

/**
 * Moves the most common response for each status to a shared component. Operations with a different response keep it.
 * @param operations the responses of each operation, modified in place
 * @param names the component names by status; other statuses are unchanged
 * @returns the shared responses by name
 */
export function shareResponses(
  operations: Responses[],
  names: Record<number, string>,
): Record<string, ResponseObject> {
  const shared: Record<string, ResponseObject> = {};
  for (const [status, name] of Object.entries(names)) {
    const texts = operations.flatMap((responses) =>
      status in responses ? [JSON.stringify(responses[status])] : [],
    );
    const commonest = mostFrequent(texts);
    if (commonest === undefined) {
      continue;
    }
    shared[name] = JSON.parse(commonest) as ResponseObject;
    for (const responses of operations) {
      if (JSON.stringify(responses[status]) === commonest) {
        responses[status] = { $ref: `#/components/responses/${name}` };
      }
    }
  }
  return shared;
}

function mostFrequent(texts: string[]): string | undefined {
  const counts = new Map<string, number>();
  for (const text of texts) {
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  const [first] = [...counts].sort(([, a], [, b]) => b - a);
  return first?.[0];
}
