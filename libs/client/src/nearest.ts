/** The known text most similar to the given one: fewer edits than half its length, or undefined. */
export function nearest(text: string, known: readonly string[]): string | undefined {
  const [best] = known
    .map((candidate) => ({ candidate, edits: editsBetween(text, candidate) }))
    .sort((a, b) => a.edits - b.edits);
  return best !== undefined && best.edits < text.length / 2 ? best.candidate : undefined;
}

/** Levenshtein distance. */
function editsBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_none, index) => index);
  for (const [index, character] of [...from].entries()) {
    const next = [index + 1];
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = row[column - 1]! + (character === to[column - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[column]! + 1, next[column - 1]! + 1));
    }
    row = next;
  }
  return row[to.length]!;
}
