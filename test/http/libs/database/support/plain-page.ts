import type { Pool } from 'pg';
import { rangeOf } from '#libs/http';

const IN_ORDER = { byId: 'id', byName: 'lower(name) COLLATE "C", id' };

/** Ids of the pets that a list answers, by the plainest statement there is. */
export async function plainPage(pool: Pool, target: string): Promise<number[]> {
  const parameters = new URL(target, 'http://localhost').searchParams;
  const all = (name: string) => (parameters.has(name) ? parameters.getAll(name) : null);
  const { cursor, name } = Object.fromEntries(parameters) as { cursor?: string; name?: string };
  const { after } = rangeOf({ ...(cursor && { cursor }), ...(name && { name }) });
  const [order, isAfter] =
    name === undefined
      ? [IN_ORDER.byId, 'id > $1 AND $6::text IS NULL']
      : [IN_ORDER.byName, '(lower(name) COLLATE "C", id) > ($6::text, $1)'];
  const { rows } = await pool.query<{ id: string }>(
    `SELECT id FROM pets WHERE deleted_at IS NULL AND ${isAfter} AND ($2::text[] IS NULL OR status = ANY($2))
       AND ($3::bigint[] IS NULL OR category_id = ANY($3)) AND ($4::bigint[] IS NULL OR id = ANY($4))
       AND starts_with(lower(name), lower($5)) ORDER BY ${order} LIMIT 20`,
    [after.id, all('status'), all('categoryId'), all('id'), name ?? '', after.name],
  );
  return rows.map(({ id }) => Number(id));
}
