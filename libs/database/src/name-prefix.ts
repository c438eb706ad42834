/** A LIKE pattern for what begins with this text; its own wildcards stand for themselves. */
export function namePrefix(text: string): string {
  return `${text.replace(/[\\%_]/g, '\\$&')}%`;
}
