/** What is counted of a client but not written down yet. */
export interface Uncounted {
  clientId: number;
  /** Day since 1970-01-01 UTC that `unwritten` is of. */
  unwrittenDay: number;
  /** Requests; negative when more were refunded than taken. */
  unwritten: number;
}

/** Takes over counts to write them down. */
export type CountWriter = (clientId: number, day: number, requests: number) => void;

/**
 * Requests that are still to be written down, kept with the clients themselves: to look a client up in a table of its
 * own costs as much as to decide on its request.
 */
export class UnwrittenCounts {
  /** A client may stand here more than once; the second time there is nothing left of it to pass on. */
  private waiting: Uncounted[] = [];
  private readonly earlier: Uncounted[] = [];

  add(client: Uncounted, day: number, requests: number): void {
    if (client.unwritten === 0) {
      client.unwrittenDay = day;
      this.waiting.push(client);
    } else if (client.unwrittenDay !== day) {
      const { clientId, unwrittenDay, unwritten } = client;
      this.earlier.push({ clientId, unwrittenDay, unwritten });
      Object.assign(client, { unwrittenDay: day, unwritten: 0 });
    }
    client.unwritten += requests;
  }

  /** Passes everything on and begins anew. */
  passOn(write: CountWriter): void {
    const waiting = this.waiting;
    this.waiting = [];
    for (const client of [...this.earlier.splice(0), ...waiting]) {
      if (client.unwritten !== 0) {
        write(client.clientId, client.unwrittenDay, client.unwritten);
        client.unwritten = 0;
      }
    }
  }
}
