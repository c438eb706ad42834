/** Of all clients. */
export interface WebhookState {
  enabled: number;
  /** Enabled, but not delivered to since a failure. */
  failing: number;
  disabled: number;
  /** Up to 100,000. */
  pendingDeliveries: number;
}

/** Counting stops here: it would take long, and the operator has to act anyway. */
const COUNTED = 100_000;

/** A number of deliveries, as an expression of SQL. @param which a condition on `webhook_deliveries` */
export function deliveriesWhere(which: string): string {
  return `(SELECT count(*)::int FROM (SELECT FROM webhook_deliveries WHERE ${which} LIMIT ${COUNTED}) AS counted)`;
}

/** Selects one row; the columns match `WebhookState`. */
export const WEBHOOK_STATE = `SELECT count(*) FILTER (WHERE enabled)::int AS enabled,
    count(*) FILTER (WHERE enabled AND failing_since IS NOT NULL)::int AS failing,
    count(*) FILTER (WHERE NOT enabled)::int AS disabled,
    ${deliveriesWhere(`status = 'pending'`)} AS "pendingDeliveries"
  FROM webhooks WHERE deleted_at IS NULL`;
