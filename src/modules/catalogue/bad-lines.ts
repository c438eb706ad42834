// The invalid lines of an import file: the first ones in full, and the total number.

export interface BadLine {
  line: number;
  problem: string;
}

export class BadLines {
  private total = 0;
  private known: BadLine[] = [];

  /** @param most how many are reported in full */
  constructor(readonly most: number) {}

  get count(): number {
    return this.total;
  }

  /** In the order of the file. */
  get first(): readonly BadLine[] {
    return this.known;
  }

  /**
   * @param found at least the first `most` of the lines
   * @param count their total number
   */
  add(found: readonly BadLine[], count = found.length): void {
    this.total += count;
    if (count > 0 && this.mayShow(found[0]!)) {
      this.known = [...this.known, ...found].sort((a, b) => a.line - b.line).slice(0, this.most);
    }
  }

  private mayShow({ line }: BadLine): boolean {
    return this.known.length < this.most || line < this.known.at(-1)!.line;
  }
}
