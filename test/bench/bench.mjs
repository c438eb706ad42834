// Compares the service with a hand-written peer and with another checkout of itself, operation by operation: docs/development/benchmark.md.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { startEmbeddedPostgres } from '#libs/embedded-postgres';
import { OPERATIONS, UNIQUE, fill } from './operations.mjs';

const USAGE = `npm run build && npm run bench -- [options]
  --only a,b         operations: ${Object.keys(OPERATIONS).join(', ')}
  --before DIR       also compare with the service of another checkout that is built
  --pairs N          rounds for each operation (3)
  --seconds N        length of a round (3)
  --connections N    (32)`;

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: Object.keys(OPERATIONS).join(',') },
    before: { type: 'string' },
    pairs: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '32' },
    help: { type: 'boolean', default: false },
  },
});
const only = options.only.split(',');
const unknown = only.filter((name) => !(name in OPERATIONS));
if (options.help || unknown.length > 0) {
  console.log(unknown.length > 0 ? `Unknown: ${unknown.join(', ')}\n${USAGE}` : USAGE);
  process.exit(options.help ? 0 : 2);
}

const ROOT = resolve(import.meta.dirname, '../..');
const LIMIT = ['--per-minute', '1000000000', '--per-day', '1000000000'];
const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'petstore-bench-'));
const endings = [() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })];
/** What UNIQUE becomes next: as many digits, because the length of a body is announced before. */
let numbers = 100_000_000;
let failed = false;
try {
  await main();
} catch (error) {
  console.error(error);
  failed = true;
} finally {
  for (const end of endings.reverse()) await end();
}
process.exit(failed ? 1 : 0);

async function main() {
  await run('wrk', ['-v']).catch(({ code }) => {
    if (code === 'ENOENT') throw new Error('Install wrk: it sends the requests.');
  });
  const others = [await startPeer()];
  if (options.before !== undefined) others.push(await startService('before', resolve(options.before)));
  const service = await startService('service', ROOT);
  console.log(
    `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}; ${options.connections} connections`,
  );
  const logs = others.map(() => []);
  for (const name of only) {
    const compared = await compare(name, service, others);
    compared.forEach((ratio, index) => logs[index].push(Math.log(ratio)));
  }
  others.forEach(({ name }, index) => {
    const mean = Math.exp(logs[index].reduce((sum, log) => sum + log, 0) / only.length);
    console.log(`geometric mean of ${only.length} ratios to ${name}: ×${mean.toFixed(2)}`);
  });
}

/** Prints the median ratios of an operation. Each round runs all contenders, one at a time, in another order. */
async function compare(name, service, others) {
  const all = [service, ...others];
  const scripts = new Map(all.map((contender) => [contender, scriptFor(name, contender)]));
  for (const contender of all) await load(name, contender, scripts.get(contender), 1);
  const rounds = [];
  for (let round = 0; round < Number(options.pairs); round += 1) {
    const results = new Map();
    for (const contender of round % 2 === 0 ? all : all.toReversed()) {
      results.set(contender, await load(name, contender, scripts.get(contender), options.seconds));
    }
    rounds.push(results);
  }
  const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
  const perSecond = (contender) => median(rounds.map((results) => results.get(contender).perSecond));
  const p99 = (contender) => median(rounds.map((results) => results.get(contender).p99Ms));
  return others.map((other, index) => {
    const ratios = rounds.map((results) => results.get(service).perSecond / results.get(other).perSecond);
    const [ratio, least, greatest] = [median(ratios), Math.min(...ratios), Math.max(...ratios)];
    const goal = index === 0 ? `, goal ${OPERATIONS[name].goal}` : '';
    console.log(
      `${name.padEnd(20)} ×${ratio.toFixed(2)} to ${other.name} (${least.toFixed(2)}–${greatest.toFixed(2)}${goal}); ` +
        `${Math.round(perSecond(service))} and ${Math.round(perSecond(other))}/s, p99 ${p99(service).toFixed(1)} and ${p99(other).toFixed(1)} ms`,
    );
    return ratio;
  });
}

/** The requests of an operation as a script of wrk. */
function scriptFor(name, { apiKey, store }) {
  const requests = OPERATIONS[name].requests(store).map(({ method, path, headers = {}, body }) => {
    const fields = { 'X-API-Key': apiKey, ...(body && { 'Content-Type': 'application/json' }), ...headers };
    const table = Object.entries(fields).map(
      ([field, value]) => `[${JSON.stringify(field)}]=${JSON.stringify(value)}`,
    );
    return `{${[method, path, body ?? ''].map((text) => JSON.stringify(text)).join(',')},{${table.join(',')}}}`;
  });
  const expected = OPERATIONS[name].status ?? 200;
  const script = `local requests, turn, wrong = {${requests.join(',\n')}}, ${Math.floor(Math.random() * requests.length)}, 0
local messages, thread = {}, nil
function setup(given) thread = given end
function init(args)
  number = tonumber(args[1])
  for i, r in ipairs(requests) do messages[i] = wrk.format(r[1], r[2], r[4], r[3] ~= "" and r[3] or nil) end
end
function request()
  turn, number = turn + 1, number + 1
  local message = messages[turn % #messages + 1]
  return ${requests[0].includes(String(UNIQUE)) ? `(message:gsub("${UNIQUE}", tostring(number)))` : 'message'}
end
unexpected = 0
function response(status) if status ~= ${expected} then unexpected = unexpected + 1 end end
function done(summary, latency)
  local e = summary.errors
  io.write(string.format('RESULT {"requests":%d,"us":%d,"p99":%d,"unexpected":%d,"failed":%d}\\n', summary.requests,
    summary.duration, latency:percentile(99), thread:get("unexpected"), e.connect + e.read + e.write + e.timeout))
end
`;
  const file = join(folder, `${name}-${numbers++}.lua`);
  writeFileSync(file, script);
  return file;
}

async function load(name, { name: contender, url }, script, seconds) {
  numbers += 1_000_000;
  const args = ['-t1', `-c${options.connections}`, `-d${seconds}s`, '-s', script, url, String(numbers)];
  const { stdout } = await run('wrk', args);
  const result = JSON.parse(/^RESULT (.*)$/m.exec(stdout)[1]);
  if (result.requests === 0 || result.unexpected > 0 || result.failed > 0) {
    throw new Error(
      `${name} of ${contender}: ${result.unexpected} other statuses, ${result.failed} failures\n${stdout}`,
    );
  }
  return { perSecond: result.requests / (result.us / 1e6), p99Ms: result.p99 / 1_000 };
}

async function startService(name, checkout) {
  const DATA_DIR = join(folder, name);
  const petstore = join(checkout, 'bin/petstore.js');
  const port = await freePort();
  const url = await start([petstore, 'serve'], { DATA_DIR, METRICS_PORT: 'off', PORT: String(port) }, port);
  const admin = (...args) =>
    run(process.execPath, [petstore, ...args], { cwd: folder, env: clean({ DATA_DIR }) });
  await admin('clients', 'create', '--name', 'bench', '--plan', 'enterprise', ...LIMIT);
  const { stdout } = await admin('keys', 'issue', '--client', 'bench', '--json');
  const apiKey = JSON.parse(stdout).key;
  return { name, url, apiKey, store: await fill(url, apiKey) };
}

/** The peer has a PostgreSQL of its own that is configured like the service's. */
async function startPeer() {
  const postgres = await startEmbeddedPostgres({ dataDirectory: join(folder, 'peer'), database: 'peer' });
  endings.push(() => postgres.stop());
  const port = await freePort();
  const environment = { DATABASE_URL: postgres.url, PORT: String(port), API_KEY: 'peer' };
  const url = await start([join(import.meta.dirname, 'peer.mjs')], environment, port);
  return { name: 'peer', url, apiKey: 'peer', store: await fill(url, 'peer') };
}

/** Starts a program, and waits until it serves. */
async function start(args, environment, port) {
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: clean(environment),
    // Log lines are formatted and written as ever, but nobody keeps them.
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  endings.push(async () => {
    if (child.exitCode === null && child.kill('SIGTERM')) await once(child, 'exit');
  });
  const url = `http://127.0.0.1:${port}`;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${args.join(' ')} ended with ${child.exitCode}.`);
    const isUp = await fetch(`${url}/health/ready`, { headers: { 'X-API-Key': 'peer' } }).catch(
      () => undefined,
    );
    if (isUp?.ok) return url;
    await sleep(50);
  }
}

/** None of the caller's own variables, which could configure a contender. */
function clean(environment) {
  const { PATH, HOME } = process.env;
  return { PATH, HOME, NODE_ENV: 'production', ...environment };
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}
