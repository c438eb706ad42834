import { PENDING_DELIVERIES } from './delivery/delivery-figures';

/** Of all clients. */
export interface WebhookState {
  enabled: number;
  /** Enabled, but not delivered to since a failure. */
  failing: number;
  disabled: number;
  /** Up to 100,000. */
  pendingDeliveries: number;
}

/** Selects one row; the columns match `WebhookState`. */
export const WEBHOOK_STATE = `SELECT count(*) FILTER (WHERE enabled)::int AS enabled,
    count(*) FILTER (WHERE enabled AND failing_since IS NOT NULL)::int AS failing,
    count(*) FILTER (WHERE NOT enabled)::int AS disabled,
    ${PENDING_DELIVERIES} AS "pendingDeliveries"
  FROM webhooks WHERE deleted_at IS NULL`;
