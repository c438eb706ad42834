import { DatabaseError, type Pool } from 'pg';

export interface Pet {
  id: number;
  name: string;
  categoryId: number;
  status: string;
}

export interface Category {
  id: number;
  name: string;
  description?: string;
}

export interface Order {
  id: number;
  petId: number;
  quantity: number;
  shipDate?: string;
  complete: boolean;
}

export interface Stock {
  petId: number;
  quantity: number;
  status: string;
}

/** One use of an Idempotency-Key. */
export interface Use {
  owner: number;
  key: string;
  fingerprint: string;
}

/** What a creating statement answers: why it refused or `done`, and what it made or had made earlier with the same key. */
export interface Outcome {
  code: string;
  id: number;
  quantity: number;
  status: string;
  /** Of the earlier use of the key. */
  fingerprint: string | null;
  body: string | null;
}

const PET_COLUMNS = `id, name, category_id AS "categoryId", status`;
const ORDER_COLUMNS = `id, pet_id AS "petId", quantity, ship_date AS "shipDate", complete`;
const LIVE_ORDERS = `FROM orders WHERE cancelled_at IS NULL`;

/** What a pet's ETag is the MD5 of; `tagSource` in routes.ts makes the same. */
const TAGGED = `pets.id || '|' || pets.category_id || '|' || pets.status || '|' || pets.name`;

/** Every request is one of these statements, prepared once on each connection. */
const READS = {
  pet: `SELECT ${PET_COLUMNS} FROM pets WHERE id = $1 AND deleted_at IS NULL`,
  pets: `SELECT ${PET_COLUMNS} FROM pets WHERE id > $1 AND deleted_at IS NULL ORDER BY id LIMIT $2`,
  petsById: `SELECT ${PET_COLUMNS} FROM pets WHERE id = ANY($1::bigint[]) AND deleted_at IS NULL ORDER BY id`,
  category: `SELECT id, name, description FROM categories WHERE id = $1`,
  order: `SELECT ${ORDER_COLUMNS} ${LIVE_ORDERS} AND id = $1`,
  orders: `SELECT ${ORDER_COLUMNS} ${LIVE_ORDERS} AND id > $1 ORDER BY id LIMIT $2`,
  stock: `
    SELECT pets.id AS "petId", inventory.quantity, pets.status FROM pets JOIN inventory ON inventory.pet_id = pets.id
    WHERE pets.id = $1 AND inventory.pet_id = $1 AND pets.deleted_at IS NULL`,
};

const CHANGES = {
  /** The row's own lock has the conditions checked against its newest version. */
  patchPet: `
    UPDATE pets SET name = COALESCE($2::text, name), category_id = COALESCE($3::bigint, category_id), status = COALESCE($4::text, status)
    WHERE id = $1 AND deleted_at IS NULL AND NOT (status = 'sold' AND COALESCE($4::text, '') = 'pending')
      AND ($5::text[] IS NULL OR md5(${TAGGED}) = ANY($5::text[]))
    RETURNING ${PET_COLUMNS}`,
  setStock: `
    WITH pet AS (SELECT id, status FROM pets WHERE id = $1 AND deleted_at IS NULL FOR UPDATE),
    stock AS (UPDATE inventory SET quantity = $2 FROM pet WHERE inventory.pet_id = $1 RETURNING inventory.quantity),
    restocked AS (UPDATE pets SET status = 'available' FROM pet WHERE pets.id = $1 AND $2 > 0 AND pet.status <> 'available')
    SELECT $1::bigint AS "petId", quantity, CASE WHEN $2 > 0 THEN 'available' ELSE status END AS status FROM pet, stock`,
};

interface Creation {
  parameters: number;
  /** @param unused what has to hold for anything to happen */
  steps: (unused: string) => string;
  /** Columns `code`, `id`, `quantity`, `status`. */
  outcome: string;
  /** The body that is kept for the key. */
  body: string;
}

const CREATIONS: Record<'placeOrder' | 'createPet' | 'adjustStock', Creation> = {
  placeOrder: {
    parameters: 5,
    steps: (unused) => `
      pet AS (SELECT id, status FROM pets WHERE id = $1 AND deleted_at IS NULL ${unused} FOR UPDATE),
      taken AS (
        UPDATE inventory SET quantity = inventory.quantity - $2::integer FROM pet
        WHERE inventory.pet_id = $1 AND pet.status = 'available' AND inventory.quantity >= $2 RETURNING inventory.quantity),
      placed AS (
        INSERT INTO orders (pet_id, quantity, ship_date, complete) SELECT $1, $2::integer, $3::timestamptz, $4::boolean FROM taken RETURNING id),
      emptied AS (
        UPDATE pets SET status = CASE WHEN $4 AND NOT has_open_orders($1) THEN 'sold' ELSE 'pending' END FROM taken
        WHERE pets.id = $1 AND taken.quantity = 0)`,
    outcome: `
      SELECT CASE WHEN placed.id IS NOT NULL THEN 'done' WHEN pet.id IS NULL THEN 'unknown_pet'
        WHEN pet.status <> 'available' THEN 'pet_not_available' ELSE 'insufficient_stock' END AS code,
        placed.id, $2 AS quantity, pet.status
      FROM (VALUES (1)) one LEFT JOIN pet ON true LEFT JOIN placed ON true`,
    body: `'{"id":' || id || $5::text`,
  },
  createPet: {
    parameters: 4,
    steps: (unused) => `
      category AS (SELECT id FROM categories WHERE id = $2 ${unused}),
      created AS (INSERT INTO pets (name, category_id, status) SELECT $1::text, id, $3::text FROM category RETURNING id),
      stocked AS (INSERT INTO inventory (pet_id, quantity) SELECT id, CASE WHEN $3::text = 'sold' THEN 0 ELSE 1 END FROM created)`,
    outcome: `
      SELECT CASE WHEN created.id IS NULL THEN 'unknown_category' ELSE 'done' END AS code, created.id, 1 AS quantity, $3::text AS status
      FROM (VALUES (1)) one LEFT JOIN created ON true`,
    body: `'{"id":' || id || $4::text`,
  },
  adjustStock: {
    parameters: 2,
    steps: (unused) => `
      pet AS (SELECT id, status FROM pets WHERE id = $1 AND deleted_at IS NULL ${unused} FOR UPDATE),
      stock AS (
        UPDATE inventory SET quantity = inventory.quantity + $2::integer FROM pet
        WHERE inventory.pet_id = $1 AND inventory.quantity + $2::bigint BETWEEN 0 AND 2147483647 RETURNING inventory.quantity),
      restocked AS (
        UPDATE pets SET status = 'available' FROM pet, stock WHERE pets.id = $1 AND $2 > 0 AND pet.status <> 'available')`,
    outcome: `
      SELECT CASE WHEN pet.id IS NULL THEN 'pet_not_found' WHEN stock.quantity IS NOT NULL THEN 'done'
        WHEN $2 < 0 THEN 'insufficient_stock' ELSE 'validation_failed' END AS code,
        $1::bigint AS id, stock.quantity, CASE WHEN $2 > 0 THEN 'available' ELSE pet.status END AS status
      FROM (VALUES (1)) one LEFT JOIN pet ON true LEFT JOIN stock ON true`,
    body: `'{"petId":' || id || ',"quantity":' || quantity || ',"status":"' || status || '"}'`,
  },
};

/** Without a key; and with one, whose record is looked up before and written with what it is about. */
function textsOf({ parameters, steps, outcome, body }: Creation): { plain: string; keyed: string } {
  const [owner, key, fingerprint] = [1, 2, 3].map((index) => `$${parameters + index}`);
  // The body belongs to the record alone, but the parameters are the same.
  const plain = `WITH ${steps('')}, outcome AS (${outcome}) SELECT *, NULL AS fingerprint, ${body} AS body FROM outcome`;
  const keyed = `
    WITH earlier AS (SELECT fingerprint, body FROM idempotency_records WHERE owner_id = ${owner} AND key = ${key}),
    ${steps('AND NOT EXISTS (SELECT FROM earlier)')},
    outcome AS (${outcome}),
    kept AS (
      INSERT INTO idempotency_records (owner_id, key, fingerprint, status, body)
      SELECT ${owner}, ${key}, ${fingerprint}, CASE code WHEN 'done' THEN 201 ELSE 409 END, CASE code WHEN 'done' THEN ${body} ELSE code END
      FROM outcome WHERE NOT EXISTS (SELECT FROM earlier))
    SELECT outcome.*, earlier.fingerprint, earlier.body FROM outcome LEFT JOIN earlier ON true`;
  return { plain, keyed };
}

const UNIQUE_VIOLATION = '23505';
const KEPT = `DELETE FROM idempotency_records WHERE created_at <= now() - interval '24 hours'`;
const CLEANING_MS = 60_000;

export class Store {
  private readonly texts = Object.fromEntries(
    Object.entries(CREATIONS).map(([name, creation]) => [name, textsOf(creation)]),
  ) as Record<keyof typeof CREATIONS, { plain: string; keyed: string }>;

  constructor(private readonly pool: Pool) {
    setInterval(() => void pool.query(KEPT).catch(() => undefined), CLEANING_MS).unref();
  }

  async rows<Row extends object>(name: keyof typeof READS, values: unknown[]): Promise<Row[]> {
    const { rows } = await this.pool.query<Row>({ name, text: READS[name], values });
    // What is not set is left out of the answer.
    for (const row of rows as { shipDate?: string | null; description?: string | null }[]) {
      if (row.shipDate === null) row.shipDate = undefined;
      if (row.description === null) row.description = undefined;
    }
    return rows;
  }

  async change<Row extends object>(name: keyof typeof CHANGES, values: unknown[]): Promise<Row | undefined> {
    return (await this.pool.query<Row>({ name, text: CHANGES[name], values })).rows[0];
  }

  async create(name: keyof typeof CREATIONS, values: unknown[], use: Use | undefined): Promise<Outcome> {
    const { plain, keyed } = this.texts[name];
    const statement = use
      ? { name: `${name}Keyed`, text: keyed, values: [...values, use.owner, use.key, use.fingerprint] }
      : { name, text: plain, values };
    try {
      return (await this.pool.query<Outcome>(statement)).rows[0]!;
    } catch (error) {
      // Another request with the same key was faster: this one has done nothing, and is answered what that one was.
      if (use && error instanceof DatabaseError && error.code === UNIQUE_VIOLATION) {
        return this.create(name, values, use);
      }
      throw error;
    }
  }
}
