-- What each request sends to PostgreSQL, by round trip. Made by `npm run statements`.

-- A key that this instance does not know yet

SELECT k.digest, json_build_object('id', k.id, 'clientId', c.id, 'clientName', c.name, 'name', k.name, 'plan', c.plan,
  'perMinute', c.per_minute, 'perDay', c.per_day, 'scopes', k.scopes, 'last4', k.last4,
  'createdAt', floor(extract(epoch FROM k.created_at) * 1000), 'expiresAt', floor(extract(epoch FROM k.expires_at) * 1000),
  'overlapEndsAt', floor(extract(epoch FROM k.overlap_ends_at) * 1000), 'resetAt', coalesce(floor(extract(epoch FROM c.reset_at) * 1000), 0),
  'ban', json_build_object('level', k.ban_level, 'bannedUntil', coalesce(floor(extract(epoch FROM k.banned_until) * 1000), 0),
  'byOperator', k.banned_by_operator, 'changedAt', coalesce(floor(extract(epoch FROM k.ban_changed_at) * 1000), 0)))
  FROM api_keys k CROSS JOIN LATERAL (SELECT * FROM clients WHERE id = k.client_id OFFSET 0) AS c
  WHERE k.digest = ANY($1) AND k.revoked_at IS NULL AND c.deleted_at IS NULL;

-- Get a pet

SELECT id, name, category_id, former_category_id, status, deleted_at FROM pets WHERE id = $1;

-- Get a category

SELECT id, name, description FROM categories WHERE id = $1;

-- Get an order

SELECT id, pet_id, quantity, ship_date, complete, cancelled_at FROM orders WHERE id = $1;

-- Get the stock of a pet

SELECT pet_id, stock, status FROM (SELECT id AS pet_id, (SELECT stock FROM inventory WHERE pet_id = pets.id) AS stock, status
  FROM pets WHERE deleted_at IS NULL) AS stock_with_status WHERE pet_id = $1;

-- List pets

SELECT page.*, wanted.place FROM unnest($1::bigint[], $2::int[]) WITH ORDINALITY AS wanted (after, most, place)
  CROSS JOIN LATERAL (SELECT * FROM (SELECT id, name, category_id, former_category_id, status, deleted_at FROM pets WHERE deleted_at IS NULL AND id > after ORDER BY id LIMIT 101) AS page ORDER BY id LIMIT most) AS page;

-- List pets by status

SELECT page.*, wanted.place FROM unnest($1::bigint[], $2::int[], $3::text[]) WITH ORDINALITY AS wanted (after, most, v3, place)
  CROSS JOIN LATERAL (SELECT * FROM (SELECT id, name, category_id, former_category_id, status, deleted_at FROM pets WHERE deleted_at IS NULL AND id > after AND status >= v3 AND status <= v3 ORDER BY status ASC, id LIMIT 101) AS page ORDER BY status ASC, id LIMIT most) AS page;

-- List pets by category

SELECT page.*, wanted.place FROM unnest($1::bigint[], $2::int[], $3::bigint[], $4::text[], $5::text[], $6::text[]) WITH ORDINALITY AS wanted (after, most, v3, v4, v5, v6, place)
  CROSS JOIN LATERAL (SELECT * FROM ((SELECT * FROM (SELECT id, name, category_id, former_category_id, status, deleted_at FROM pets WHERE deleted_at IS NULL AND category_id = v3 AND id > after AND status >= v4 AND status <= v4 ORDER BY status DESC, id LIMIT 101) AS page ORDER BY status DESC, id LIMIT most) UNION ALL (SELECT * FROM (SELECT id, name, category_id, former_category_id, status, deleted_at FROM pets WHERE deleted_at IS NULL AND category_id = v3 AND id > after AND status >= v5 AND status <= v5 ORDER BY status DESC, id LIMIT 101) AS page ORDER BY status DESC, id LIMIT most) UNION ALL (SELECT * FROM (SELECT id, name, category_id, former_category_id, status, deleted_at FROM pets WHERE deleted_at IS NULL AND category_id = v3 AND id > after AND status >= v6 AND status <= v6 ORDER BY status DESC, id LIMIT 101) AS page ORDER BY status DESC, id LIMIT most)) AS parts ORDER BY id LIMIT most) AS page;

-- List pets by name

SELECT page.*, wanted.place FROM unnest($1::bigint[], $2::int[], $3::text[], $4::text[]) WITH ORDINALITY AS wanted (after, most, v3, v4, place)
  CROSS JOIN LATERAL (SELECT *, true AS fits FROM (SELECT id, name, category_id, former_category_id, status, deleted_at, lower(name) COLLATE "C" AS lower_name FROM pets WHERE deleted_at IS NULL AND (lower(name) COLLATE "C", id) > (greatest(v4 COLLATE "C", lower(v3)), after) AND lower(name) COLLATE "C" < lower(v3) || repeat(chr(1114111), 256) ORDER BY lower(name) COLLATE "C", id LIMIT 101) AS walk ORDER BY lower_name, id LIMIT most) AS page;

-- List categories

SELECT page.*, wanted.place FROM unnest($1::bigint[], $2::int[]) WITH ORDINALITY AS wanted (after, most, place)
  CROSS JOIN LATERAL (SELECT * FROM (SELECT id, name, description FROM categories WHERE id > after ORDER BY id LIMIT 101) AS page ORDER BY id LIMIT most) AS page;

-- List orders

SELECT page.*, wanted.place FROM unnest($1::bigint[], $2::int[], $3::boolean[], $4::boolean[]) WITH ORDINALITY AS wanted (after, most, v3, v4, place)
  CROSS JOIN LATERAL (SELECT * FROM ((SELECT * FROM (SELECT id, pet_id, quantity, ship_date, complete, cancelled_at FROM orders WHERE cancelled_at IS NULL AND id > after AND complete >= v3 AND complete <= v3 ORDER BY complete ASC, id LIMIT 101) AS page ORDER BY complete ASC, id LIMIT most) UNION ALL (SELECT * FROM (SELECT id, pet_id, quantity, ship_date, complete, cancelled_at FROM orders WHERE cancelled_at IS NULL AND id > after AND complete >= v4 AND complete <= v4 ORDER BY complete ASC, id LIMIT 101) AS page ORDER BY complete ASC, id LIMIT most)) AS parts ORDER BY id LIMIT most) AS page;

-- List the orders of a pet

SELECT page.*, wanted.place FROM unnest($1::bigint[], $2::int[], $3::bigint[], $4::boolean[], $5::boolean[]) WITH ORDINALITY AS wanted (after, most, v3, v4, v5, place)
  CROSS JOIN LATERAL (SELECT * FROM ((SELECT * FROM (SELECT id, pet_id, quantity, ship_date, complete, cancelled_at FROM orders WHERE cancelled_at IS NULL AND pet_id = v3 AND id > after AND complete >= v4 AND complete <= v4 ORDER BY complete DESC, id LIMIT 101) AS page ORDER BY complete DESC, id LIMIT most) UNION ALL (SELECT * FROM (SELECT id, pet_id, quantity, ship_date, complete, cancelled_at FROM orders WHERE cancelled_at IS NULL AND pet_id = v3 AND id > after AND complete >= v5 AND complete <= v5 ORDER BY complete DESC, id LIMIT 101) AS page ORDER BY complete DESC, id LIMIT most)) AS parts ORDER BY id LIMIT most) AS page;

-- List the stock

SELECT page.*, wanted.place FROM unnest($1::bigint[], $2::int[]) WITH ORDINALITY AS wanted (after, most, place)
  CROSS JOIN LATERAL (SELECT * FROM (SELECT pet_id, stock, status FROM (SELECT id AS pet_id, (SELECT stock FROM inventory WHERE pet_id = pets.id) AS stock, status
  FROM pets WHERE deleted_at IS NULL) AS stock_with_status WHERE pet_id > after ORDER BY pet_id LIMIT 101) AS page ORDER BY pet_id LIMIT most) AS page;

-- Read the feed

SELECT feed_end();

-- then

SELECT (SELECT max(position) FROM events WHERE position <= $4::bigint), is_known, page.events, reached.*
  FROM (SELECT min(position) AS first,
  EXISTS (SELECT FROM events WHERE position = $1 AND (extract(epoch FROM time) * 1000000)::bigint = $2::bigint
  AND (SELECT count(*) FROM events AS earlier WHERE earlier.position > events.position - 500 AND earlier.position < events.position
  AND earlier.time > events.time - interval '10 minutes') = $3::bigint) AS is_known
  FROM events WHERE position > $1 AND position <= $4) AS start
  LEFT JOIN LATERAL (
  SELECT position FROM events
  WHERE position >= first AND position < first + 20000 AND position <= $4 ORDER BY position DESC LIMIT 1
  ) AS examined ON true
  CROSS JOIN LATERAL (
  SELECT concat('[', string_agg(event, ',') FILTER (WHERE bytes <= 262144), ']') AS events,
  max(position) FILTER (WHERE bytes <= 262144) AS last,
  count(*) = $7::int OR max(bytes) > 262144 AS is_full
  FROM (SELECT *, sum(octet_length(event)) OVER (ORDER BY position ROWS UNBOUNDED PRECEDING) AS bytes
  FROM (SELECT position, concat('{"position":', position, ',"petId":', coalesce(pet_id::text, 'null'),
  ',"event":', concat('{"id":"', 'evt_' || replace(id::text, '-', ''), '","type":"', type, '","timestamp":"', to_char(time AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
  '","data":', data, '}'), '}') AS event FROM events
  WHERE position >= first AND position < first + 20000 AND position <= $4 AND ($5::text[] IS NULL OR type = ANY($5)) AND ($6::bigint IS NULL OR pet_id = $6)
  ORDER BY position LIMIT $7) AS found) AS sized
  ) AS page
  LEFT JOIN LATERAL (
  SELECT position, (extract(epoch FROM time) * 1000000)::bigint, (SELECT count(*) FROM events AS earlier WHERE earlier.position > events.position - 500 AND earlier.position < events.position
  AND earlier.time > events.time - interval '10 minutes') FROM events
  WHERE position = CASE WHEN page.is_full THEN page.last ELSE examined.position END
  ) AS reached ON true;

-- Start at the end of the feed

SELECT feed_end();

-- then

SELECT position, (extract(epoch FROM time) * 1000000)::bigint, (SELECT count(*) FROM events AS earlier WHERE earlier.position > events.position - 500 AND earlier.position < events.position
  AND earlier.time > events.time - interval '10 minutes') FROM events WHERE position <= $1 ORDER BY position DESC LIMIT 1;

-- Place an order

BEGIN;
SELECT id, name, category_id, former_category_id, status, deleted_at FROM pets WHERE id = $1 FOR NO KEY UPDATE SKIP LOCKED;
SELECT pet_id, stock, open_orders FROM inventory WHERE pet_id = $1 FOR NO KEY UPDATE SKIP LOCKED;
SELECT nextval('orders_id_seq') FROM generate_series(1, $1::int);

-- then

INSERT INTO orders (id, pet_id, quantity, ship_date, complete, cancelled_at) OVERRIDING SYSTEM VALUE VALUES ($1, $2, $3, $4, $5, $6);
UPDATE inventory SET stock = $2, open_orders = $3 WHERE pet_id = $1;
INSERT INTO events (id, type, pet_id, data) VALUES ($1, $2, $3, $4), ($5, $6, $7, $8);
COMMIT;

-- Place an order with an Idempotency-Key

BEGIN;
SELECT pg_try_advisory_xact_lock(hashtextextended('idempotency ' || name, 0)) AS claimed
  FROM unnest($1::text[]) WITH ORDINALITY AS claims (name, place) ORDER BY place;
SELECT place, kept.* FROM unnest($1::text[]) WITH ORDINALITY AS used (name, place)
  CROSS JOIN LATERAL (SELECT fingerprint, status, body FROM idempotency_records AS record
  WHERE record.name = used.name AND created_at + interval '24 hours' > now() LIMIT 1) AS kept;
SELECT id, name, category_id, former_category_id, status, deleted_at FROM pets WHERE id = $1 FOR NO KEY UPDATE SKIP LOCKED;
SELECT pet_id, stock, open_orders FROM inventory WHERE pet_id = $1 FOR NO KEY UPDATE SKIP LOCKED;
SELECT nextval('orders_id_seq') FROM generate_series(1, $1::int);

-- then

INSERT INTO orders (id, pet_id, quantity, ship_date, complete, cancelled_at) OVERRIDING SYSTEM VALUE VALUES ($1, $2, $3, $4, $5, $6);
UPDATE inventory SET stock = $2, open_orders = $3 WHERE pet_id = $1;
INSERT INTO idempotency_records (name, fingerprint, status, body) VALUES ($1, $2, $3, $4) ON CONFLICT (name) DO UPDATE SET fingerprint = excluded.fingerprint, status = excluded.status,
  body = excluded.body, created_at = now();
INSERT INTO events (id, type, pet_id, data) VALUES ($1, $2, $3, $4), ($5, $6, $7, $8);
COMMIT;

-- Repeat it

BEGIN;
SELECT pg_try_advisory_xact_lock(hashtextextended('idempotency ' || name, 0)) AS claimed
  FROM unnest($1::text[]) WITH ORDINALITY AS claims (name, place) ORDER BY place;
SELECT place, kept.* FROM unnest($1::text[]) WITH ORDINALITY AS used (name, place)
  CROSS JOIN LATERAL (SELECT fingerprint, status, body FROM idempotency_records AS record
  WHERE record.name = used.name AND created_at + interval '24 hours' > now() LIMIT 1) AS kept;
SELECT id, name, category_id, former_category_id, status, deleted_at FROM pets WHERE id = $1 FOR NO KEY UPDATE SKIP LOCKED;
SELECT pet_id, stock, open_orders FROM inventory WHERE pet_id = $1 FOR NO KEY UPDATE SKIP LOCKED;
SELECT nextval('orders_id_seq') FROM generate_series(1, $1::int);

-- then

ROLLBACK;

-- Reschedule an order

BEGIN;
SELECT id, pet_id, quantity, ship_date, complete, cancelled_at FROM orders WHERE id = $1 FOR NO KEY UPDATE SKIP LOCKED;

-- then

UPDATE orders SET pet_id = $2, quantity = $3, ship_date = $4, complete = $5, cancelled_at = $6 WHERE id = $1;
INSERT INTO events (id, type, pet_id, data) VALUES ($1, $2, $3, $4);
COMMIT;

-- Complete an order

SELECT id, pet_id, quantity, ship_date, complete, cancelled_at FROM orders WHERE id = $1;

-- then

BEGIN;
SELECT id, name, category_id, former_category_id, status, deleted_at FROM pets WHERE id = $1 FOR NO KEY UPDATE SKIP LOCKED;
SELECT pet_id, stock, open_orders FROM inventory WHERE pet_id = $1 FOR NO KEY UPDATE SKIP LOCKED;
SELECT id, pet_id, quantity, ship_date, complete, cancelled_at FROM orders WHERE id = $1 FOR NO KEY UPDATE SKIP LOCKED;

-- then

UPDATE inventory SET stock = $2, open_orders = $3 WHERE pet_id = $1;
UPDATE orders SET pet_id = $2, quantity = $3, ship_date = $4, complete = $5, cancelled_at = $6 WHERE id = $1;
INSERT INTO events (id, type, pet_id, data) VALUES ($1, $2, $3, $4);
COMMIT;

-- Cancel an order

SELECT id, pet_id, quantity, ship_date, complete, cancelled_at FROM orders WHERE id = $1;

-- then

BEGIN;
SELECT id, name, category_id, former_category_id, status, deleted_at FROM pets WHERE id = $1 FOR NO KEY UPDATE SKIP LOCKED;
SELECT pet_id, stock, open_orders FROM inventory WHERE pet_id = $1 FOR NO KEY UPDATE SKIP LOCKED;
SELECT id, pet_id, quantity, ship_date, complete, cancelled_at FROM orders WHERE id = $1 FOR NO KEY UPDATE SKIP LOCKED;

-- then

UPDATE inventory SET stock = $2, open_orders = $3 WHERE pet_id = $1;
UPDATE orders SET pet_id = $2, quantity = $3, ship_date = $4, complete = $5, cancelled_at = $6 WHERE id = $1;
INSERT INTO events (id, type, pet_id, data) VALUES ($1, $2, $3, $4), ($5, $6, $7, $8);
COMMIT;

-- Create a pet

BEGIN;
SELECT id, name, description FROM categories WHERE id = $1 FOR KEY SHARE SKIP LOCKED;
SELECT nextval('pets_id_seq') FROM generate_series(1, $1::int);

-- then

INSERT INTO pets (id, name, category_id, former_category_id, status, deleted_at) OVERRIDING SYSTEM VALUE VALUES ($1, $2, $3, $4, $5, $6);
INSERT INTO inventory (pet_id, stock, open_orders) OVERRIDING SYSTEM VALUE VALUES ($1, $2, $3);
INSERT INTO events (id, type, pet_id, data) VALUES ($1, $2, $3, $4);
COMMIT;

-- Replace a pet

BEGIN;
SELECT id, name, description FROM categories WHERE id = $1 FOR KEY SHARE SKIP LOCKED;
SELECT id, name, category_id, former_category_id, status, deleted_at FROM pets WHERE id = $1 FOR NO KEY UPDATE SKIP LOCKED;

-- then

UPDATE pets SET name = $2, category_id = $3, former_category_id = $4, status = $5, deleted_at = $6 WHERE id = $1;
INSERT INTO events (id, type, pet_id, data) VALUES ($1, $2, $3, $4);
COMMIT;

-- Change the name of a pet

BEGIN;
SELECT id, name, category_id, former_category_id, status, deleted_at FROM pets WHERE id = $1 FOR NO KEY UPDATE SKIP LOCKED;

-- then

UPDATE pets SET name = $2, category_id = $3, former_category_id = $4, status = $5, deleted_at = $6 WHERE id = $1;
INSERT INTO events (id, type, pet_id, data) VALUES ($1, $2, $3, $4);
COMMIT;

-- Hold a pet

BEGIN;
SELECT id, name, category_id, former_category_id, status, deleted_at FROM pets WHERE id = $1 FOR NO KEY UPDATE SKIP LOCKED;
SELECT pet_id, stock, open_orders FROM inventory WHERE pet_id = $1 FOR NO KEY UPDATE SKIP LOCKED;

-- then

UPDATE pets SET name = $2, category_id = $3, former_category_id = $4, status = $5, deleted_at = $6 WHERE id = $1;
INSERT INTO events (id, type, pet_id, data) VALUES ($1, $2, $3, $4), ($5, $6, $7, $8);
COMMIT;

-- Offer it again

BEGIN;
SELECT id, name, category_id, former_category_id, status, deleted_at FROM pets WHERE id = $1 FOR NO KEY UPDATE SKIP LOCKED;
SELECT pet_id, stock, open_orders FROM inventory WHERE pet_id = $1 FOR NO KEY UPDATE SKIP LOCKED;

-- then

UPDATE pets SET name = $2, category_id = $3, former_category_id = $4, status = $5, deleted_at = $6 WHERE id = $1;
INSERT INTO events (id, type, pet_id, data) VALUES ($1, $2, $3, $4), ($5, $6, $7, $8);
COMMIT;

-- Delete a pet

BEGIN;
SELECT id, name, category_id, former_category_id, status, deleted_at FROM pets WHERE id = $1 FOR NO KEY UPDATE SKIP LOCKED;
SELECT pet_id, stock, open_orders FROM inventory WHERE pet_id = $1 FOR NO KEY UPDATE SKIP LOCKED;

-- then

UPDATE pets SET name = $2, category_id = $3, former_category_id = $4, status = $5, deleted_at = $6 WHERE id = $1;
INSERT INTO events (id, type, pet_id, data) VALUES ($1, $2, $3, $4);
COMMIT;

-- Set the stock

BEGIN;
SELECT id, name, category_id, former_category_id, status, deleted_at FROM pets WHERE id = $1 FOR NO KEY UPDATE SKIP LOCKED;
SELECT pet_id, stock, open_orders FROM inventory WHERE pet_id = $1 FOR NO KEY UPDATE SKIP LOCKED;

-- then

UPDATE inventory SET stock = $2, open_orders = $3 WHERE pet_id = $1;
INSERT INTO events (id, type, pet_id, data) VALUES ($1, $2, $3, $4);
COMMIT;

-- Adjust the stock

BEGIN;
SELECT id, name, category_id, former_category_id, status, deleted_at FROM pets WHERE id = $1 FOR NO KEY UPDATE SKIP LOCKED;
SELECT pet_id, stock, open_orders FROM inventory WHERE pet_id = $1 FOR NO KEY UPDATE SKIP LOCKED;

-- then

UPDATE inventory SET stock = $2, open_orders = $3 WHERE pet_id = $1;
INSERT INTO events (id, type, pet_id, data) VALUES ($1, $2, $3, $4);
COMMIT;

-- Create a category

BEGIN;
SELECT nextval('categories_id_seq') FROM generate_series(1, $1::int);

-- then

INSERT INTO categories (id, name, description) OVERRIDING SYSTEM VALUE VALUES ($1, $2, $3);
INSERT INTO events (id, type, pet_id, data) VALUES ($1, $2, $3, $4);
COMMIT;

-- Replace a category

BEGIN;
SELECT id, name, description FROM categories WHERE id = $1 FOR NO KEY UPDATE SKIP LOCKED;

-- then

UPDATE categories SET name = $2, description = $3 WHERE id = $1;
INSERT INTO events (id, type, pet_id, data) VALUES ($1, $2, $3, $4);
COMMIT;

-- Delete a category

BEGIN;
SELECT id, name, description FROM categories WHERE id = $1 FOR UPDATE SKIP LOCKED;
SELECT coalesce((SELECT true FROM pets WHERE category_id = wanted.id LIMIT 1), false)
  FROM unnest($1::bigint[]) WITH ORDINALITY AS wanted (id, place) ORDER BY place;

-- then

DELETE FROM categories WHERE id = ANY($1::bigint[]);
INSERT INTO events (id, type, pet_id, data) VALUES ($1, $2, $3, $4);
COMMIT;

-- Change what does not exist

BEGIN;
SELECT id, name, category_id, former_category_id, status, deleted_at FROM pets WHERE id = $1 FOR NO KEY UPDATE SKIP LOCKED;

-- then

SELECT id, name, category_id, former_category_id, status, deleted_at FROM pets WHERE id = $1;

-- then

ROLLBACK;

-- Orders that are placed together

BEGIN;
SELECT id, name, category_id, former_category_id, status, deleted_at FROM pets WHERE id = $1 FOR NO KEY UPDATE SKIP LOCKED;
SELECT pet_id, stock, open_orders FROM inventory WHERE pet_id = $1 FOR NO KEY UPDATE SKIP LOCKED;
SELECT nextval('orders_id_seq') FROM generate_series(1, $1::int);

-- then

INSERT INTO orders (id, pet_id, quantity, ship_date, complete, cancelled_at) OVERRIDING SYSTEM VALUE VALUES ($1, $2, $3, $4, $5, $6), ($7, $8, $9, $10, $11, $12);
UPDATE inventory SET stock = $2, open_orders = $3 WHERE pet_id = $1;
INSERT INTO events (id, type, pet_id, data) VALUES ($1, $2, $3, $4), ($5, $6, $7, $8), ($9, $10, $11, $12), ($13, $14, $15, $16);
COMMIT;

-- Pets that are created together

BEGIN;
SELECT id, name, description FROM categories WHERE id = $1 FOR KEY SHARE SKIP LOCKED;
SELECT nextval('pets_id_seq') FROM generate_series(1, $1::int);

-- then

INSERT INTO pets (id, name, category_id, former_category_id, status, deleted_at) OVERRIDING SYSTEM VALUE VALUES ($1, $2, $3, $4, $5, $6), ($7, $8, $9, $10, $11, $12);
INSERT INTO inventory (pet_id, stock, open_orders) OVERRIDING SYSTEM VALUE VALUES ($1, $2, $3), ($4, $5, $6);
INSERT INTO events (id, type, pet_id, data) VALUES ($1, $2, $3, $4), ($5, $6, $7, $8);
COMMIT;

-- Different writes that share a transaction

BEGIN;
SELECT id, name, category_id, former_category_id, status, deleted_at FROM pets WHERE id = $1 FOR NO KEY UPDATE SKIP LOCKED;
SELECT pet_id, stock, open_orders FROM inventory WHERE pet_id = $1 FOR NO KEY UPDATE SKIP LOCKED;
SELECT nextval('categories_id_seq') FROM generate_series(1, $1::int);

-- then

INSERT INTO categories (id, name, description) OVERRIDING SYSTEM VALUE VALUES ($1, $2, $3);
UPDATE pets SET name = $2, category_id = $3, former_category_id = $4, status = $5, deleted_at = $6 WHERE id = $1;
UPDATE inventory SET stock = $2, open_orders = $3 WHERE pet_id = $1;
INSERT INTO events (id, type, pet_id, data) VALUES ($1, $2, $3, $4), ($5, $6, $7, $8), ($9, $10, $11, $12);
COMMIT;
