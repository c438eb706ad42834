import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { RepeatingTask } from '#libs/clock';
import { Database, NotificationListener } from '#libs/database';
import { InstanceWatch, LIVE_USAGE_CHANNEL, answerLiveUsage } from './instances';
import { type Change, QuotaStore } from './stores/quota-store';

/** Notified by a trigger on the table key_bans; the payload is the key's id. */
const BANS_CHANNEL = 'petstore_bans';
/** Notified by a trigger on the table quota_resets; the payload is the client's id. */
const RESETS_CHANNEL = 'petstore_quota_resets';

/** Short, because changes must apply within a second. */
const RETRY_MS = 250;

/** Applies bans, unbans and resets made by other processes, and tells them what this one has counted. */
@Injectable()
export class ChangesListener implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger(ChangesListener.name);
  /** Changes that are not applied yet, by name, so that none waits twice. */
  private readonly pending = new Map<string, Change>();
  private readonly task = new RepeatingTask({
    name: 'Applying changes of bans and limits',
    work: () => this.applyAll(),
    everyMs: RETRY_MS,
  });

  constructor(
    private readonly store: QuotaStore,
    private readonly instances: InstanceWatch,
    private readonly database: Database,
    private readonly listener: NotificationListener,
  ) {}

  async onModuleInit(): Promise<void> {
    const { instances } = this;
    this.task.start();
    await this.listener.subscribe({
      channels: [BANS_CHANNEL, RESETS_CHANNEL, LIVE_USAGE_CHANNEL],
      onNotification: (payload, channel) => this.take(payload, channel),
      // Changes may have been missed while not listening, or made before the start.
      onState: (listening) => listening && this.apply({}),
      // This session also makes the instance visible to the others.
      setUp: instances.setUp,
      pulse: { sql: instances.question, onAnswer: (answer) => instances.take(answer) },
    });
  }

  onModuleDestroy(): void {
    void this.task.stop();
  }

  private take(payload: string, channel: string): void {
    const id = Number(payload);
    switch (channel) {
      case BANS_CHANNEL:
        return this.apply({ keyId: id });
      case RESETS_CHANNEL:
        return this.apply({ clientId: id });
      default:
        answerLiveUsage(payload, this.store, this.database).catch((error: unknown) =>
          this.logger.warn(`A question about a client's limits was not answered: ${String(error)}`),
        );
    }
  }

  private apply(change: Change): void {
    this.pending.set(JSON.stringify(change), change);
    void this.task.runNow();
  }

  /** What fails is pending again. */
  private async applyAll(): Promise<void> {
    const due = [...this.pending];
    this.pending.clear();
    const results = await Promise.allSettled(due.map(([, change]) => this.store.reload(change)));
    let failure: PromiseRejectedResult | undefined;
    results.forEach((result, index) => {
      if (result.status === 'rejected') {
        failure = result;
        this.pending.set(...due[index]!);
      }
    });
    if (failure !== undefined) {
      throw failure.reason;
    }
  }
}
