const CLEAR_LINE = '\r\u001B[2K';

/** One line on a terminal that tells what is being done; nothing where standard error is no terminal. */
export class Progress {
  private done = 0;

  constructor(
    private readonly total: number,
    private readonly terminal: NodeJS.WriteStream = process.stderr,
  ) {}

  show(what: string): void {
    if (this.terminal.isTTY) {
      const line = `[${this.done + 1}/${this.total}] ${what}`;
      this.terminal.write(CLEAR_LINE + line.slice(0, this.terminal.columns - 1));
    }
  }

  next(): void {
    this.done += 1;
  }

  clear(): void {
    if (this.terminal.isTTY) {
      this.terminal.write(CLEAR_LINE);
    }
  }
}
