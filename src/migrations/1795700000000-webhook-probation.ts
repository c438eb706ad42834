import { sqlMigration } from './sql-migration';

/** @param reset what else an enabled webhook begins with */
function beginNow(reset: string): string {
  return `CREATE OR REPLACE FUNCTION begin_webhook_now() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      ${reset}
      IF TG_OP = 'INSERT' OR NOT OLD.enabled THEN
        NEW.since := (SELECT coalesce(max(position), 0) FROM event_blocks) * 100 + 99;
      END IF;
      RETURN NEW;
    END $$`;
}

const UP = [
  // A webhook is on probation until its receiver has accepted a delivery: one attempt at a time. `probing_until` is the
  // lease of that attempt; after a failure nothing is sent before `probe_after`.
  `ALTER TABLE webhooks ADD proven boolean NOT NULL DEFAULT false, ADD probing_until timestamptz,
    ADD probe_after timestamptz`,
  `UPDATE webhooks SET proven = true WHERE EXISTS (SELECT FROM webhook_deliveries
    WHERE webhook_id = webhooks.id AND status = 'delivered')`,
  // The commands end pauses, because they know whether the URL has changed.
  beginNow(''),
];

const DOWN = [
  beginNow('NEW.paused_until := NULL;'),
  `ALTER TABLE webhooks DROP proven, DROP probing_until, DROP probe_after`,
];

/** Webhooks on probation. */
export const WebhookProbation1795700000000 = sqlMigration('WebhookProbation1795700000000', UP, DOWN);
