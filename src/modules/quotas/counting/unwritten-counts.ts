/** A client's counted requests that are not yet written. */
export interface UnwrittenCount {
  clientId: number;
  /** The day of `unwritten`, in days since 1970-01-01 UTC. */
  unwrittenDay: number;
  /** Requests; negative when more were refunded than taken. */
  unwritten: number;
}

export type CountWriter = (clientId: number, day: number, requests: number) => void;

/**
 * Counted requests that are not yet written. They are kept in the client entries, because another map lookup per request
 * would cost as much as the decision itself.
 */
export class UnwrittenCounts {
  /** May contain a client twice; the second time nothing is left to pass on. */
  private waiting: UnwrittenCount[] = [];
  private readonly earlier: UnwrittenCount[] = [];

  add(client: UnwrittenCount, day: number, requests: number): void {
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

  /** Passes on all counts and clears them. */
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
