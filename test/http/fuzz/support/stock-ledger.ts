import type { Pool } from 'pg';
import type { Answer } from '../../../support/api-client';
import type { InventoryItem, Order, Pet } from '../../../support/builders';
import type { FuzzRequest } from './fuzz-request';

/** Near the most there can be, units that come back have no place. */
const FULL = 1_000_000_000;

interface StockRow {
  pet_id: string;
  quantity: number;
  ordered: string;
}

/** The books of the stock, kept from what was answered and compared at the end with what is there. */
export class StockLedger {
  /** What each pet began with and what adjustments have brought, while nobody has set its stock. */
  private readonly expected = new Map<number, number>();
  private readonly uncertain = new Set<number>();
  private readonly orders = new Map<number, { petId: number; quantity: number }>();

  note({ method, target }: FuzzRequest, { status, headers, body }: Answer<unknown>): void {
    const isNew = status >= 200 && status < 300 && !headers.has('idempotent-replayed');
    if (!isNew || method === 'GET' || method === 'HEAD') {
      return;
    }
    const [path = ''] = target.split('?', 1);
    if (status === 201 && path === '/pets') {
      const { id, status: first } = body as Pet;
      this.bring(id, first === 'sold' ? 0 : 1);
    } else if (status === 201 && path === '/store/orders') {
      const { id, petId, quantity } = body as Order;
      this.orders.set(id, { petId, quantity });
    } else if (method === 'PUT' && path.startsWith('/store/inventory/')) {
      this.uncertain.add((body as InventoryItem).petId);
    }
  }

  /** Adjustments are told of with what was asked for, which the answer does not repeat. */
  noteAdjustment({ body: sent, target }: FuzzRequest, { status, headers, body }: Answer<unknown>): void {
    if (status !== 200 || headers.has('idempotent-replayed') || !target.includes('/adjustments')) {
      return;
    }
    const { petId, quantity } = body as InventoryItem;
    const { delta } = JSON.parse(sent!.replace(/^\ufeff/, '')) as { delta: number };
    this.bring(petId, delta);
    if (quantity > FULL) {
      this.uncertain.add(petId);
    }
  }

  /** Every pet whose stock was never set: what it has, and what it should have by the books. */
  async compare(pool: Pool): Promise<{ actual: object; expected: object; compared: number }> {
    const { rows } = await pool.query<StockRow>(
      `SELECT pet_id, quantity, (SELECT coalesce(sum(orders.quantity), 0) FROM orders
         WHERE orders.pet_id = inventory.pet_id AND cancelled_at IS NULL) AS ordered
       FROM inventory ORDER BY pet_id`,
    );
    const certain = rows.filter(({ pet_id: id }) => !this.uncertain.has(Number(id)));
    return {
      actual: Object.fromEntries(certain.map(({ pet_id: id, quantity }) => [id, quantity])),
      expected: Object.fromEntries(
        certain.map(({ pet_id: id, ordered }) => [id, this.expected.get(Number(id))! - Number(ordered)]),
      ),
      compared: certain.length,
    };
  }

  /** Orders as they were acknowledged, and as they are kept, by their ids. */
  async compareOrders(pool: Pool): Promise<{ actual: object; expected: object }> {
    const { rows } = await pool.query<{ id: string; pet_id: string; quantity: number }>(
      'SELECT id, pet_id, quantity FROM orders',
    );
    const kept = rows.map(({ id, pet_id: petId, quantity }) => [id, { petId: Number(petId), quantity }]);
    return { actual: Object.fromEntries(kept) as object, expected: Object.fromEntries(this.orders) };
  }

  /** Answers may come in another order than the work was done: a pet that was just made may be adjusted already. */
  private bring(petId: number, units: number): void {
    this.expected.set(petId, (this.expected.get(petId) ?? 0) + units);
  }
}
