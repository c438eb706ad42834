// A bar chart with one line per value.

const BLOCKS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/**
 * `2026-11-21  1,200  ██████████▌`; the longest bar ends at the last column.
 * @param columns width of the widest line
 */
export function barLines(
  values: readonly (readonly [label: string, value: number])[],
  columns: number,
): string[] {
  const numbers = values.map(([, value]) => value.toLocaleString('en-US'));
  const most = Math.max(1, ...values.map(([, value]) => value));
  const numberWidth = Math.max(...numbers.map(({ length }) => length));
  const labelWidth = Math.max(...values.map(([label]) => label.length));
  const room = Math.max(1, columns - labelWidth - numberWidth - 4);
  return values.map(([label, value], index) => {
    const bar = barOf((value / most) * room, value > 0);
    return `${label.padEnd(labelWidth)}  ${numbers[index]!.padStart(numberWidth)}  ${bar}`.trimEnd();
  });
}

/** To an eighth of a character; any positive value is visible. */
function barOf(length: number, visible: boolean): string {
  const eighths = Math.max(Math.round(length * 8), visible ? 1 : 0);
  return '█'.repeat(Math.floor(eighths / 8)) + BLOCKS[eighths % 8]!;
}
