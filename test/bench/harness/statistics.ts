/** The middle of some values, and how far they are apart. */
export interface Spread {
  median: number;
  min: number;
  max: number;
}

/**
 * By how much a value grows with another one: the slope of the line that fits the points best, by least squares.
 * @param points at least two, not all of them with the same first value
 */
export function slopeOf(points: readonly (readonly [number, number])[]): number {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const meanX = mean(points.map(([x]) => x));
  const meanY = mean(points.map(([, y]) => y));
  const products = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  return products / points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
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
