// The first process counts for all worker processes, so that they share one exact count. A message has many steps.
import { Injectable } from '@nestjs/common';
import type { Clock } from '#libs/clock';
import { isDatabaseUnavailable } from '#libs/database';
import { ServiceUnavailableError } from '#libs/http';
import { QuotaStore, type Receipt, type Standing, type Subject, type Taken } from './quota-store';
import { RefusalCache } from './refusal-cache';

type Method = 'take' | 'refund' | 'look' | 'reloadBans' | 'reloadResets' | 'reloadDays' | 'flush';

/** A call of a method of QuotaStore. */
type Step = { [Name in Method]: [Name, ...Parameters<QuotaStore[Name]>] }[Method];

type Result = Taken | Standing | boolean | undefined;

/** A result, or why the method failed; `unavailable` if the database was. */
type Reply = { result: Result } | { failure: string; unavailable: boolean };

interface Question {
  quotaSteps: { id: number; step: Step }[];
}

interface Answer {
  quotaReplies: { id: number; reply: Reply }[];
  isDegraded: boolean;
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

/** In a worker: asks the first process. Steps of one turn of the event loop are sent in one message. */
export class WorkerQuotaStore extends QuotaStore {
  private readonly refusals = new RefusalCache();
  private readonly waiting = new Map<number, Waiting>();
  private asked: Question['quotaSteps'] = [];
  private lastId = 0;
  private isFirstDegraded = false;

  constructor(
    private readonly channel: Channel,
    private readonly clock: Clock,
  ) {
    super();
    channel.on('message', (message) => this.receive(message as Partial<Answer>));
  }

  override isDegraded(): boolean {
    return this.isFirstDegraded;
  }

  take(subject: Subject): Taken | Promise<Taken> {
    return this.refusals.find(subject, this.clock.now()) ?? this.takeUnknown(subject);
  }

  refund(subject: Subject, receipt: Receipt): Promise<Standing> {
    const { takenAt, takenLocally } = receipt;
    return this.ask(['refund', subject, { takenAt, takenLocally }]);
  }

  look(subject: Subject): Promise<Standing> {
    return this.ask(['look', subject]);
  }

  async reloadBans(keyId?: number): Promise<void> {
    await this.ask(['reloadBans', keyId]);
    this.refusals.clear();
  }

  reloadResets(clientId?: number): Promise<void> {
    return this.ask(['reloadResets', clientId]);
  }

  reloadDays(): Promise<void> {
    return this.ask(['reloadDays']);
  }

  flush(): Promise<boolean> {
    return this.ask(['flush']);
  }

  private async takeUnknown(subject: Subject): Promise<Taken> {
    const decision = await this.ask<Taken>(['take', subject]);
    this.refusals.remember(subject, decision, this.clock.now());
    return decision;
  }

  private ask<Result>(step: Step): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.asked.length === 0) {
        setImmediate(() => this.sendAll());
      }
      this.lastId += 1;
      this.waiting.set(this.lastId, { resolve, reject });
      this.asked.push({ id: this.lastId, step });
    });
  }

  private sendAll(): void {
    const quotaSteps = this.asked;
    this.asked = [];
    send(this.channel, { quotaSteps });
  }

  private receive({ quotaReplies, isDegraded }: Partial<Answer>): void {
    if (quotaReplies === undefined) {
      return;
    }
    this.isFirstDegraded = isDegraded!;
    for (const { id, reply } of quotaReplies) {
      const { resolve, reject } = this.waiting.get(id)!;
      this.waiting.delete(id);
      if ('result' in reply) {
        resolve(reply.result as never);
      } else {
        reject(reply.unavailable ? new ServiceUnavailableError() : new Error(reply.failure));
      }
    }
  }
}

/** In the first process: counts for all workers. */
@Injectable()
export class WorkerQuotaServer {
  /** Replies that are sent to each worker at the end of the turn. */
  private readonly replies = new Map<Channel, Answer['quotaReplies']>();

  constructor(private readonly store: QuotaStore) {
    store.onDegraded(() => [...this.replies.keys()].forEach((worker) => this.send(worker)));
  }

  /** Handles the messages of this worker. @returns what to call when it has ended */
  serve(worker: Channel): () => void {
    this.replies.set(worker, []);
    worker.on('message', (message) => {
      const { quotaSteps = [] } = message as Partial<Question>;
      quotaSteps.forEach(({ id, step }) => this.answer(worker, id, step));
    });
    return () => this.replies.delete(worker);
  }

  private answer(worker: Channel, id: number, step: Step): void {
    const result = this.run(step);
    if (result instanceof Promise) {
      void result
        .then((late): Reply => ({ result: late }), failureOf)
        .then((reply) => this.reply(worker, id, reply));
    } else {
      this.reply(worker, id, { result });
    }
  }

  private reply(worker: Channel, id: number, reply: Reply): void {
    const replies = this.replies.get(worker);
    if (replies?.push({ id, reply }) === 1) {
      setImmediate(() => this.send(worker));
    }
  }

  private send(worker: Channel): void {
    const quotaReplies = this.replies.get(worker)?.splice(0) ?? [];
    send(worker, { quotaReplies, isDegraded: this.store.isDegraded() });
  }

  private run([method, ...parameters]: Step): Result | Promise<Result> {
    const call = this.store[method] as (...all: unknown[]) => Result | Promise<Result>;
    return call.apply(this.store, parameters);
  }
}

function failureOf(error: unknown): Reply {
  return { failure: String(error), unavailable: isDatabaseUnavailable(error) };
}
