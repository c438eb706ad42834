import type { ReferenceObject, ResponseObject } from '@nestjs/swagger';

type Responses = Record<string, ResponseObject | ReferenceObject>;

/**
 * Moves the response that most operations have for a status to where all can refer to it. Those that have another one
 * keep it.
 * @param operations the responses of each operation, which are changed
 * @param names under which a status is shared; others are left alone
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
