// The first process counts for all worker processes, so that they share one exact count. A message has many calls.
import { Injectable } from '@nestjs/common';
import type { Clock } from '#libs/clock';
import { isDatabaseUnavailable } from '#libs/database';
import { ServiceUnavailableError } from '#libs/http';
import {
  type Change,
  QuotaStore,
  type Receipt,
  type RedisState,
  type Standing,
  type Subject,
  type Taken,
} from './quota-store';
import { RefusalCache } from './refusal-cache';

type Method = 'take' | 'refund' | 'look' | 'reload' | 'flush';
type Result<Name extends Method> = Awaited<ReturnType<QuotaStore[Name]>>;

/** A call of a method of QuotaStore. */
interface Call {
  id: number;
  method: Method;
  parameters: unknown[];
}

/** Its result, or why it failed; `unavailable` if the database was. */
type Reply = { id: number } & ({ result?: unknown } | { failure: string; unavailable: boolean });

interface Question {
  quotaCalls: Call[];
}

interface Answer {
  quotaReplies: Reply[];
  redis: RedisState;
}

/** One end of the channel between a worker and the first process: `process` or a `Worker`. */
export interface Channel {
  send?(message: object, handle: undefined, options: undefined, sent: (error: Error | null) => void): boolean;
  on(event: 'message', listener: (message: object) => void): unknown;
}

/** Sends a message; ignores a closed channel. */
function send(channel: Channel, message: Question | Answer): void {
  channel.send?.(message, undefined, undefined, () => undefined);
}

interface Waiting {
  resolve: (result: never) => void;
  reject: (error: unknown) => void;
}

/** In a worker: asks the first process. Calls of one turn of the event loop are sent in one message. */
export class WorkerQuotaStore extends QuotaStore {
  private readonly refusals: RefusalCache;
  private readonly waiting = new Map<number, Waiting>();
  private asked: Call[] = [];
  private lastId = 0;

  constructor(
    private readonly channel: Channel,
    clock: Clock,
  ) {
    super();
    this.refusals = new RefusalCache(clock);
    channel.on('message', (message) => this.receive(message as Partial<Answer>));
  }

  take(subject: Subject): Taken | Promise<Taken> {
    return this.refusals.takeUnlessKnown(subject, () => this.ask('take', subject));
  }

  refund(subject: Subject, { takenAt, takenLocally }: Receipt): Promise<Standing> {
    return this.ask('refund', subject, { takenAt, takenLocally });
  }

  look(subject: Subject): Promise<Standing> {
    return this.ask('look', subject);
  }

  async reload(change: Change): Promise<void> {
    await this.ask('reload', change);
    this.refusals.clear();
  }

  flush(): Promise<boolean> {
    return this.ask('flush');
  }

  private ask<Name extends Method>(
    method: Name,
    ...parameters: Parameters<QuotaStore[Name]>
  ): Promise<Result<Name>> {
    return new Promise((resolve, reject) => {
      if (this.asked.length === 0) {
        setImmediate(() => send(this.channel, { quotaCalls: this.asked.splice(0) }));
      }
      this.lastId += 1;
      this.waiting.set(this.lastId, { resolve, reject });
      this.asked.push({ id: this.lastId, method, parameters });
    });
  }

  private receive({ quotaReplies, redis }: Partial<Answer>): void {
    if (quotaReplies === undefined) {
      return;
    }
    this.redis = redis!;
    for (const reply of quotaReplies) {
      const { resolve, reject } = this.waiting.get(reply.id)!;
      this.waiting.delete(reply.id);
      if ('failure' in reply) {
        reject(reply.unavailable ? new ServiceUnavailableError() : new Error(reply.failure));
      } else {
        resolve(reply.result as never);
      }
    }
  }
}

/** In the first process: counts for all workers. */
@Injectable()
export class WorkerQuotaServer {
  /** Replies that are sent to each worker at the end of the turn. */
  private readonly replies = new Map<Channel, Reply[]>();

  constructor(private readonly store: QuotaStore) {
    store.onChange = () => [...this.replies.keys()].forEach((worker) => this.send(worker));
  }

  /** Handles the messages of this worker. @returns what to call when it has ended */
  serve(worker: Channel): () => void {
    this.replies.set(worker, []);
    worker.on('message', (message) => {
      const { quotaCalls = [] } = message as Partial<Question>;
      quotaCalls.forEach((call) => this.answer(worker, call));
    });
    return () => this.replies.delete(worker);
  }

  /** Most results are there at once: a promise for each would cost more than the counting. */
  private answer(worker: Channel, { id, method, parameters }: Call): void {
    const reply = (result: unknown) => this.reply(worker, { id, result });
    const fail = (error: unknown) =>
      this.reply(worker, { id, failure: String(error), unavailable: isDatabaseUnavailable(error) });
    try {
      const call = this.store[method] as (...all: unknown[]) => unknown;
      const result = call.apply(this.store, parameters);
      if (result instanceof Promise) {
        result.then(reply, fail);
      } else {
        reply(result);
      }
    } catch (error) {
      fail(error);
    }
  }

  private reply(worker: Channel, reply: Reply): void {
    const replies = this.replies.get(worker);
    if (replies?.push(reply) === 1) {
      setImmediate(() => this.send(worker));
    }
  }

  private send(worker: Channel): void {
    const quotaReplies = this.replies.get(worker)?.splice(0) ?? [];
    send(worker, { quotaReplies, redis: this.store.redis });
  }
}
