import type { Pool } from 'pg';
import { idBefore } from '#libs/http';

/** Ids of the pets that a list answers, by the plainest statement there is. */
export async function plainPage(pool: Pool, target: string): Promise<number[]> {
  const parameters = new URL(target, 'http://localhost').searchParams;
  const all = (name: string) => (parameters.has(name) ? parameters.getAll(name) : null);
  const { rows } = await pool.query<{ id: string }>(
    `SELECT id FROM pets WHERE deleted_at IS NULL AND id > $1 AND ($2::text[] IS NULL OR status = ANY($2))
       AND ($3::bigint[] IS NULL OR category_id = ANY($3)) AND ($4::bigint[] IS NULL OR id = ANY($4))
       AND starts_with(lower(name), $5) ORDER BY id LIMIT 20`,
    [
      idBefore(parameters.get('cursor') ?? undefined),
      all('status'),
      all('categoryId'),
      all('id'),
      parameters.get('name') ?? '',
    ],
  );
  return rows.map(({ id }) => Number(id));
}
