import { AsyncLocalStorage } from 'node:async_hooks';
import { Server } from 'node:http';
import { Client } from 'pg';

/** A statement as the service has sent it. */
export interface SentStatement {
  /** Present where the statement is prepared. */
  name?: string;
  text: string;
  values: unknown[];
}

const READING = /^\s*\(?\s*(SELECT|WITH)\b/i;

/** Sees every statement that requests, or the work itself, send while `during` runs, and none of what else this process does. */
export class RecordedStatements {
  private sent: SentStatement[] | null = null;
  private readonly ofWork = new AsyncLocalStorage<true>();
  private readonly spies: jest.SpyInstance[];

  constructor() {
    const query = Client.prototype.query as (...args: unknown[]) => unknown;
    const emit = Server.prototype.emit as (...args: unknown[]) => boolean;
    const { ofWork } = this;
    const seen = (args: unknown[]) => ofWork.getStore() && this.sent?.push(statementOf(args));
    this.spies = [
      jest.spyOn(Client.prototype, 'query').mockImplementation(function (this: Client, ...args) {
        seen(args);
        return query.apply(this, args) as never;
      }),
      jest.spyOn(Server.prototype, 'emit').mockImplementation(function (this: Server, ...args) {
        const emitted = () => emit.apply(this, args);
        return (args[0] as unknown) === 'request' ? ofWork.run(true, emitted) : emitted();
      }),
    ];
  }

  /** @returns the statements that only read tables of the store, in the order in which they were sent */
  async during(work: () => Promise<unknown>): Promise<SentStatement[]> {
    const sent = await this.allDuring(work);
    return sent.filter(({ text }) => READING.test(text));
  }

  /** @returns all statements, in the order in which they were sent */
  async allDuring(work: () => Promise<unknown>): Promise<SentStatement[]> {
    const sent: SentStatement[] = (this.sent = []);
    await this.ofWork.run(true, work);
    this.sent = null;
    return sent;
  }

  stop(): void {
    this.spies.forEach((spy) => spy.mockRestore());
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
