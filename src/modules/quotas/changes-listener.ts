import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { RepeatingTask } from '#libs/clock';
import { NotificationListener } from '#libs/database';
import { InstanceWatch } from './instances';
import { type Change, QuotaStore } from './stores/quota-store';

/** Notified by triggers on the tables key_bans and quota_resets. */
const CHANNELS: Readonly<Record<string, (id: number) => Change>> = {
  petstore_bans: (keyId) => ({ keyId }),
  petstore_quota_resets: (clientId) => ({ clientId }),
};

/** Short, because changes must apply within a second. */
const RETRY_MS = 250;

/** Applies bans, unbans and resets made by other processes. */
@Injectable()
export class ChangesListener implements OnModuleInit, OnModuleDestroy {
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
    private readonly listener: NotificationListener,
  ) {}

  async onModuleInit(): Promise<void> {
    const { instances } = this;
    this.task.start();
    await this.listener.subscribe({
      channels: Object.keys(CHANNELS),
      onNotification: (id, channel) => this.apply(CHANNELS[channel]!(Number(id))),
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

  private apply(change: Change): void {
    this.pending.set(JSON.stringify(change), change);
    void this.task.runNow();
  }

  /** What fails is pending again. */
  private async applyAll(): Promise<void> {
    const due = [...this.pending];
    this.pending.clear();
    await Promise.all(
      due.map(([name, change]) =>
        this.store.reload(change).catch((error: unknown) => {
          this.pending.set(name, change);
          throw error;
        }),
      ),
    );
  }
}
