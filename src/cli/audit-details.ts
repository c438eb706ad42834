/** The details of an entry in one line, without unchanged values; null if there are none. */
export function detailsInShort(details: Readonly<Record<string, unknown>>): string | null {
  const parts = Object.entries(details).flatMap(([name, value]) => partOf(name, value));
  return parts.length === 0 ? null : parts.join(', ');
}

function partOf(name: string, value: unknown): string[] {
  if (!isChange(value)) {
    return value === null ? [] : [`${name} ${inShort(value)}`];
  }
  const [before, after] = [inShort(value.before), inShort(value.after)];
  return before === after ? [] : [`${name} ${before} → ${after}`];
}

function isChange(value: unknown): value is { before: unknown; after: unknown } {
  return typeof value === 'object' && value !== null && 'before' in value && 'after' in value;
}

function inShort(value: unknown): string {
  if (value === null) {
    return '-';
  }
  return Array.isArray(value) ? value.join('+') : String(value as string | number | boolean);
}
