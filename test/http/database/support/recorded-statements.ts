import { Client } from 'pg';

/** A statement as the service has sent it. */
export interface SentStatement {
  /** Present where the statement is prepared. */
  name?: string;
  text: string;
  values: unknown[];
}

/**
 * From time to time, whatever it is asked, the service looks for other instances, new events and deliveries that are due, and
 * deletes what is old.
 */
const BESIDE_REQUESTS = /pg_locks|max\(position\) FROM event_blocks$|NOTIFY|webhook|^WITH deleted AS/;
const READING = /^\s*\(?\s*(SELECT|WITH)\b/i;

/** Sees every statement that goes to the database from this process while `during` runs. */
export class RecordedStatements {
  private sent: SentStatement[] | null = null;
  private readonly spy: jest.SpyInstance;

  constructor() {
    const query = Client.prototype.query as (...args: unknown[]) => unknown;
    const seen = (args: unknown[]) => this.sent?.push(statementOf(args));
    this.spy = jest.spyOn(Client.prototype, 'query').mockImplementation(function (this: Client, ...args) {
      seen(args);
      return query.apply(this, args) as never;
    });
  }

  /** @returns the statements that only read tables of the store, in the order in which they were sent */
  async during(work: () => Promise<unknown>): Promise<SentStatement[]> {
    const sent = await this.allDuring(work);
    return sent.filter(({ text }) => READING.test(text) && !BESIDE_REQUESTS.test(text));
  }

  /** @returns all statements, in the order in which they were sent */
  async allDuring(work: () => Promise<unknown>): Promise<SentStatement[]> {
    const sent: SentStatement[] = (this.sent = []);
    await work();
    this.sent = null;
    return sent;
  }

  stop(): void {
    this.spy.mockRestore();
  }
}

/** What the driver is given is a text with its values, or an object with both. */
function statementOf([first, values]: unknown[]): SentStatement {
  if (typeof first === 'string') {
    return { text: first, values: Array.isArray(values) ? (values as unknown[]) : [] };
  }
  const { name, text, values: own } = first as Partial<SentStatement>;
  return { name, text: text ?? '', values: own ?? [] };
}
