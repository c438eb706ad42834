import { Injectable } from '@nestjs/common';
import { Clock } from '#libs/clock';
import { Database, int8ToNumber } from '#libs/database';
import { WebhookActivation } from '../webhook-activation';
import { type Attempt, DISABLED_AFTER_MS, isGone, isSuccess, slowDownMs } from './schedule';

const GONE = 'The receiver responded 410 Gone.';
const DEAD = 'All deliveries failed for five days.';

/** What a batch of attempts says about one receiver. */
interface Finding {
  webhookId: number;
  succeeded: boolean;
  gone: boolean;
  pausedUntil: Date | null;
}

/** In ascending id, to avoid deadlocks. A success of a healthy receiver writes nothing. */
const LEARN = {
  text: `UPDATE webhooks SET
      failing_since = CASE WHEN found.succeeded THEN NULL ELSE coalesce(webhooks.failing_since, $5) END,
      paused_until = greatest(webhooks.paused_until, found.paused_until)
    FROM unnest($1::bigint[], $2::boolean[], $3::boolean[], $4::timestamptz[])
      AS found (id, succeeded, gone, paused_until)
    WHERE webhooks.id = found.id
      AND (NOT found.succeeded OR webhooks.failing_since IS NOT NULL OR found.gone OR found.paused_until IS NOT NULL)
    RETURNING webhooks.id, found.gone, webhooks.failing_since`,
};

interface LearntRow {
  id: string;
  gone: boolean;
  failing_since: Date | null;
}

/** Tracks the state of receivers: slows down, and disables webhooks that are gone or have failed for days. */
@Injectable()
export class Receivers {
  constructor(
    private readonly database: Database,
    private readonly webhooks: WebhookActivation,
    private readonly clock: Clock,
  ) {}

  async learn(attempts: readonly { webhookId: number; attempt: Attempt }[]): Promise<void> {
    const now = this.clock.now();
    const findings = findingsOf(attempts, now);
    const values = [
      findings.map(({ webhookId }) => webhookId),
      findings.map(({ succeeded }) => succeeded),
      findings.map(({ gone }) => gone),
      findings.map(({ pausedUntil }) => pausedUntil?.toISOString() ?? null),
      new Date(now).toISOString(),
    ];
    const rows = await this.database.run<LearntRow>(LEARN, values);
    for (const row of rows) {
      const isDead = row.failing_since !== null && row.failing_since.getTime() <= now - DISABLED_AFTER_MS;
      if (row.gone || isDead) {
        await this.webhooks.disable(int8ToNumber(row.id), row.gone ? GONE : DEAD);
      }
    }
  }
}

function findingsOf(attempts: readonly { webhookId: number; attempt: Attempt }[], now: number): Finding[] {
  const byWebhook = new Map<number, Finding>();
  for (const { webhookId, attempt } of attempts) {
    const found = byWebhook.get(webhookId);
    const slowMs = slowDownMs(attempt, now);
    const pausedUntil = new Date(Math.max(found?.pausedUntil?.getTime() ?? 0, slowMs > 0 ? now + slowMs : 0));
    byWebhook.set(webhookId, {
      webhookId,
      succeeded: (found?.succeeded ?? false) || isSuccess(attempt),
      gone: (found?.gone ?? false) || isGone(attempt),
      pausedUntil: pausedUntil.getTime() > 0 ? pausedUntil : null,
    });
  }
  return [...byWebhook.values()].sort((one, other) => one.webhookId - other.webhookId);
}
