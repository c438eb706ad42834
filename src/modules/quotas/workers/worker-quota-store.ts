import type { Clock } from '#libs/clock';
import { ServiceUnavailableError } from '#libs/http';
import { QuotaStore, type Receipt, type Standing, type Taken } from '../counting/quota-store';
import type { Subject } from '../counting/subject';
import { KnownRefusals } from '../counting/known-refusals';
import { type Channel, type QuotaAnswer, type QuotaQuestion, type QuotaStep, send } from './quota-messages';

interface Waiting {
  resolve: (result: never) => void;
  reject: (error: unknown) => void;
}

/**
 * Lets the primary process count, so that all workers share one exact count. Steps of one turn of the event loop are sent
 * in one message.
 */
export class WorkerQuotaStore extends QuotaStore {
  private readonly refusals = new KnownRefusals();
  private readonly waiting = new Map<number, Waiting>();
  private asked: QuotaQuestion['quotaSteps'] = [];
  private lastId = 0;

  constructor(
    private readonly channel: Channel,
    private readonly clock: Clock,
  ) {
    super();
    channel.on('message', (message) => this.receive(message as Partial<QuotaAnswer>));
  }

  take(subject: Subject): Taken | Promise<Taken> {
    return this.refusals.find(subject, this.clock.now()) ?? this.takeUnknown(subject);
  }

  refund(subject: Subject, receipt: Receipt): Promise<Standing> {
    const { takenAt, takenAlone } = receipt;
    return this.ask(['refund', subject, { takenAt, takenAlone }]);
  }

  look(subject: Subject): Promise<Standing> {
    return this.ask(['look', subject]);
  }

  async reloadBans(keyId?: number): Promise<void> {
    await this.ask(['reloadBans', keyId]);
    this.refusals.forgetAll();
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

  private ask<Result>(step: QuotaStep): Promise<Result> {
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

  private receive({ quotaReplies = [] }: Partial<QuotaAnswer>): void {
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
