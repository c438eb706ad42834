// The hand-written peer's jobs: `import FILE` and `deliver URL AFTER COUNT`. docs/development/benchmark.md says what they leave out.
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { Agent, request } from 'node:http';
import { createInterface } from 'node:readline';
import pg from 'pg';

const LINES = 1_000;
const IN_FLIGHT = 64;
const SECRET = 'peer';

const IMPORT = `WITH line AS MATERIALIZED (
    SELECT nextval(pg_get_serial_sequence('pets', 'id')) AS id, * FROM json_to_recordset($1) AS line (name text, category_id bigint, status text, quantity int)),
  new AS (INSERT INTO pets (id, name, category_id, status) OVERRIDING SYSTEM VALUE SELECT id, name, category_id, status FROM line RETURNING *),
  stock AS (INSERT INTO inventory SELECT id, quantity FROM line)
  INSERT INTO events (type, pet_id, data) SELECT 'pet.created', id, to_jsonb(new) FROM new`;

const client = new pg.Client(process.env.DATABASE_URL);
await client.connect();
const [job, ...args] = process.argv.slice(2);
await { import: importFile, deliver }[job](...args);
await client.end();

/** Imports NDJSON, each group of lines in one statement. */
async function importFile(file) {
  const categories = new Map();
  let pets = [];
  const send = async () => client.query({ name: 'import', text: IMPORT, values: [JSON.stringify(pets)] });
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const { kind, id, name, categoryId, status = 'available', quantity = 1 } = JSON.parse(line);
    if (typeof name !== 'string' || name === '') throw new Error(`Bad line: ${line}`);
    if (kind === 'category') {
      const { rows } = await client.query('INSERT INTO categories (name) VALUES ($1) RETURNING id', [name]);
      categories.set(id, rows[0].id);
    } else {
      pets.push({ name, category_id: categories.get(categoryId), status, quantity });
    }
    if (pets.length === LINES) {
      await send();
      pets = [];
    }
  }
  if (pets.length > 0) await send();
}

/** Sends this many events, signed, to a receiver. After each page, it stores its position. */
async function deliver(url, after, count) {
  const agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT });
  await client.query('CREATE TABLE IF NOT EXISTS deliveries (position bigint)');
  const text = 'SELECT id, type, at, data FROM events WHERE id > $1 ORDER BY id LIMIT 1000';
  for (let position = after, left = Number(count); left > 0;) {
    const { rows } = await client.query({ name: 'page', text, values: [position] });
    await Promise.all(rows.map((event) => post(url, agent, event)));
    position = rows.at(-1)?.id ?? position;
    left -= rows.length;
    await client.query({ name: 'keep', text: 'INSERT INTO deliveries VALUES ($1)', values: [position] });
  }
  agent.destroy();
}

async function post(url, agent, { id, type, at, data }) {
  const body = JSON.stringify({ id: `evt_${id}`, type, timestamp: at.toISOString(), data });
  const time = Math.floor(Date.now() / 1_000);
  const signature = createHmac('sha256', SECRET).update(`evt_${id}.${time}.${body}`).digest('base64');
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    'webhook-id': `evt_${id}`,
    'webhook-timestamp': time,
    'webhook-signature': `v1,${signature}`,
  };
  const sent = request(url, { agent, method: 'POST', headers });
  sent.end(body);
  const [response] = await once(sent, 'response');
  if (response.statusCode >= 300) throw new Error(`${response.statusCode} for event ${id}`);
  await once(response.resume(), 'end');
}
