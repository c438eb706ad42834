import type { Pool, PoolClient } from 'pg';

export interface Pet {
  id: number;
  name: string;
  categoryId: number;
  status: string;
}

export interface NewOrder {
  petId: number;
  quantity: number;
  shipDate?: string;
  complete: boolean;
}

export type Refusal = 'unknown_pet' | 'pet_not_available' | 'insufficient_stock';

const PET = { name: 'pet', text: petsWhere('id = $1') };
const PETS = { name: 'pets', text: `${petsWhere('id > $1')} ORDER BY id LIMIT $2` };
const LOCK_PET = {
  name: 'lock-pet',
  text: `SELECT status FROM pets WHERE id = $1 AND deleted_at IS NULL FOR UPDATE`,
};
const TAKE_STOCK = {
  name: 'take-stock',
  text: `UPDATE inventory SET quantity = quantity - $2 WHERE pet_id = $1 AND quantity >= $2 RETURNING quantity`,
};
const SET_STATUS = { name: 'set-status', text: `UPDATE pets SET status = $2 WHERE id = $1` };
const OPEN_ORDERS = {
  name: 'open-orders',
  text: `SELECT count(*)::int AS open FROM orders WHERE pet_id = $1 AND NOT complete AND cancelled_at IS NULL`,
};
const INSERT_ORDER = {
  name: 'insert-order',
  text: `INSERT INTO orders (pet_id, quantity, ship_date, complete) VALUES ($1, $2, $3, $4) RETURNING id`,
};

function petsWhere(condition: string): string {
  return `SELECT id, name, category_id AS "categoryId", status FROM pets WHERE ${condition} AND deleted_at IS NULL`;
}

/** The statements, prepared once on each connection. */
export class Store {
  constructor(private readonly pool: Pool) {}

  async pet(id: number): Promise<Pet | undefined> {
    return (await this.pool.query<Pet>({ ...PET, values: [id] })).rows[0];
  }

  async petsAfter(id: number, count: number): Promise<Pet[]> {
    return (await this.pool.query<Pet>({ ...PETS, values: [id, count] })).rows;
  }

  /** Places an order in one transaction under the pet's row lock. @returns its id, or why it was refused */
  async placeOrder(order: NewOrder): Promise<number | Refusal> {
    const client = await this.pool.connect();
    try {
      await client.query('BEGIN');
      const outcome = await place(client, order);
      await client.query(typeof outcome === 'number' ? 'COMMIT' : 'ROLLBACK');
      client.release();
      return outcome;
    } catch (error) {
      // The connection may be in the middle of anything, so it is not used again.
      client.release(true);
      throw error;
    }
  }
}

async function place(client: PoolClient, order: NewOrder): Promise<number | Refusal> {
  const { petId, quantity, shipDate = null, complete } = order;
  const pet = (await client.query<{ status: string }>({ ...LOCK_PET, values: [petId] })).rows[0];
  if (!pet) return 'unknown_pet';
  if (pet.status !== 'available') return 'pet_not_available';
  const taken = await client.query<{ quantity: number }>({ ...TAKE_STOCK, values: [petId, quantity] });
  const left = taken.rows[0]?.quantity;
  if (left === undefined) return 'insufficient_stock';
  const inserted = await client.query<{ id: number }>({
    ...INSERT_ORDER,
    values: [petId, quantity, shipDate, complete],
  });
  if (left === 0) {
    const status = complete && (await hasNoOpenOrder(client, petId)) ? 'sold' : 'pending';
    await client.query({ ...SET_STATUS, values: [petId, status] });
  }
  return inserted.rows[0]!.id;
}

async function hasNoOpenOrder(client: PoolClient, petId: number): Promise<boolean> {
  return (await client.query<{ open: number }>({ ...OPEN_ORDERS, values: [petId] })).rows[0]!.open === 0;
}
