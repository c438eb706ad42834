/** The middle of some values, and how far they are apart. */
export interface Spread {
  median: number;
  min: number;
  max: number;
}

/** @param values at least one */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle];
  const lower = sorted[sorted.length % 2 === 0 ? middle - 1 : middle];
  if (upper === undefined || lower === undefined) {
    throw new Error('There is no middle of no values');
  }
  return { median: (lower + upper) / 2, min: sorted[0]!, max: sorted.at(-1)! };
}
