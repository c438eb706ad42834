import type { Statement } from '#libs/database';
import { DEFAULT_PAGE_SIZE, idBefore } from '#libs/http';
import type { ListDeliveriesQuery } from './deliveries.dto';
import { DELIVERY_STATUSES } from './webhook-delivery.entity';

/** Where the first page starts. */
const NEWEST = Number.MAX_SAFE_INTEGER;

/** A page of a webhook's deliveries, newest first. The index is sorted within each status, so it reads each one. */
export function deliveryListStatement(
  columns: string,
  webhookId: number,
  { status, cursor, limit = DEFAULT_PAGE_SIZE }: ListDeliveriesQuery,
): Statement & { values: unknown[] } {
  const wanted = status === undefined ? DELIVERY_STATUSES : [status];
  const parts = wanted.map(
    (_status, index) => `(SELECT ${columns} FROM webhook_deliveries
      WHERE webhook_id = $1 AND status = $${index + 4} AND id < $2 ORDER BY status DESC, id DESC LIMIT $3)`,
  );
  return {
    text: `SELECT * FROM (${parts.join(' UNION ALL ')}) AS parts ORDER BY id DESC LIMIT $3`,
    values: [webhookId, idBefore(cursor) || NEWEST, limit + 1, ...wanted],
  };
}
