import { Socket } from 'node:net';

/** Stands in for standard output, and keeps the text. If it has a number of columns, it is a terminal. */
export class Output extends Socket {
  text = '';

  constructor(readonly columns?: number) {
    super();
  }

  get isTTY(): boolean {
    return this.columns !== undefined;
  }

  override write(text: string | Uint8Array, ...rest: unknown[]): boolean {
    this.text += text.toString();
    const done = rest.at(-1);
    if (typeof done === 'function') done();
    return true;
  }
}
