import { Injectable, Module } from '@nestjs/common';
import { Clock } from '#libs/clock';
import { isDatabaseUnavailable } from '#libs/database';
import { SETTINGS, type Settings } from '../../../settings';
import { MemoryQuotaStore, sharesOf } from '../counting/memory-quota-store';
import { QuotaRecords } from '../counting/quota-records';
import {
  type Channel,
  type QuotaAnswer,
  type QuotaQuestion,
  type QuotaReply,
  type QuotaStep,
  send,
} from './quota-messages';

type Result = Extract<QuotaReply, { result: unknown }>['result'];

/** Counts for all worker processes of this service: the server side of `WorkerQuotaStore`. */
@Injectable()
export class WorkerQuotaServer {
  constructor(private readonly store: MemoryQuotaStore) {}

  /** Handles the messages of this worker. */
  answer(worker: Channel): void {
    worker.on('message', (message) => {
      const { quotaSteps } = message as Partial<QuotaQuestion>;
      if (quotaSteps !== undefined) {
        this.answerAll(worker, quotaSteps);
      }
    });
  }

  /** Replies to all synchronous results in one message; results that need the database follow separately. */
  private answerAll(worker: Channel, steps: QuotaQuestion['quotaSteps']): void {
    const quotaReplies: QuotaAnswer['quotaReplies'] = [];
    for (const { id, step } of steps) {
      const result = this.run(step);
      if (result instanceof Promise) {
        void result
          .then((late): QuotaReply => ({ result: late }), failureOf)
          .then((reply) => send(worker, { quotaReplies: [{ id, reply }] }));
      } else {
        quotaReplies.push({ id, reply: { result } });
      }
    }
    if (quotaReplies.length > 0) {
      send(worker, { quotaReplies });
    }
  }

  private run(step: QuotaStep): Result | Promise<Result> {
    switch (step[0]) {
      case 'take':
        return this.store.take(step[1]);
      case 'refund':
        return this.store.refund(step[1], step[2]);
      case 'look':
        return this.store.look(step[1]);
      case 'reloadBans':
        return this.store.reloadBans(step[1]) as Promise<undefined>;
      case 'reloadResets':
        return this.store.reloadResets(step[1]) as Promise<undefined>;
      case 'reloadDays':
        return this.store.reloadDays() as Promise<undefined>;
      case 'flush':
        return this.store.flush();
    }
  }
}

function failureOf(error: unknown): QuotaReply {
  return { failure: String(error), unavailable: isDatabaseUnavailable(error) };
}

/** The part of quotas that the primary process of a service with workers needs. */
@Module({
  providers: [
    QuotaRecords,
    {
      provide: MemoryQuotaStore,
      inject: [SETTINGS, QuotaRecords, Clock],
      // With Redis, this counts only this instance's share while Redis is unavailable.
      useFactory: (settings: Settings, records: QuotaRecords, clock: Clock) =>
        new MemoryQuotaStore(records, clock, sharesOf(settings)),
    },
    WorkerQuotaServer,
  ],
  exports: [WorkerQuotaServer],
})
export class WorkerQuotaServerModule {}
