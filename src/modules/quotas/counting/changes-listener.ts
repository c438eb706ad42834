import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Database, NotificationListener } from '#libs/database';
import { InstanceWatch } from './instance-watch';
import { RetryingTasks } from './retrying-tasks';
import { QuotaStore } from './quota-store';
import { QUESTIONS_CHANNEL, answerQuestion } from './standing-questions';

/** Notified by a trigger on the table key_bans; the payload is the key's id. */
const BANS_CHANNEL = 'petstore_bans';
/** Notified by a trigger on the table quota_resets; the payload is the client's id. */
const RESETS_CHANNEL = 'petstore_quota_resets';

/** Applies bans, unbans and resets made by other processes, and tells them what this one has counted. */
@Injectable()
export class ChangesListener implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger(ChangesListener.name);
  private readonly changes = new RetryingTasks((change, error) => {
    this.logger.warn(`${change} could not be applied; will retry: ${String(error)}`);
  });

  constructor(
    private readonly store: QuotaStore,
    private readonly instances: InstanceWatch,
    private readonly database: Database,
    private readonly listener: NotificationListener,
  ) {}

  async onModuleInit(): Promise<void> {
    const { instances } = this;
    await this.listener.subscribe({
      channels: [BANS_CHANNEL, RESETS_CHANNEL, QUESTIONS_CHANNEL],
      onNotification: (payload, channel) => this.take(payload, channel),
      onState: (listening) => listening && this.takeOverAll(),
      // This session also makes the instance visible to the others.
      setUp: instances.setUp,
      pulse: { sql: instances.question, onAnswer: (answer) => instances.take(answer) },
    });
  }

  onModuleDestroy(): void {
    this.changes.close();
  }

  private take(payload: string, channel: string): void {
    switch (channel) {
      case BANS_CHANNEL:
        return this.takeOverBans(Number(payload));
      case RESETS_CHANNEL:
        return this.takeOverResets(Number(payload));
      default:
        answerQuestion(payload, this.store, this.database).catch((error: unknown) =>
          this.logger.warn(`A question about a client's limits was not answered: ${String(error)}`),
        );
    }
  }

  /** Catches up on changes that were missed while not listening, or made before the start. */
  private takeOverAll(): void {
    this.takeOverBans();
    this.takeOverResets();
    this.changes.add('the days of all clients', () => this.store.reloadDays());
  }

  private takeOverBans(keyId?: number): void {
    const name = keyId === undefined ? 'all bans' : `the ban of key ${keyId}`;
    this.changes.add(name, () => this.store.reloadBans(keyId));
  }

  private takeOverResets(clientId?: number): void {
    const name = clientId === undefined ? 'all resets' : `the reset of client ${clientId}`;
    this.changes.add(name, () => this.store.reloadResets(clientId));
  }
}
