// Compares the service with a hand-written peer, with another checkout, or with itself, operation by operation: docs/development/benchmark.md.
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join, resolve } from 'node:path';
import {
  folder,
  median,
  processorTime,
  query,
  readOptions,
  run,
  runToEnd,
  startPeer,
  startService,
} from './contenders.mjs';
import { OPERATIONS, UNIQUE, fill } from './operations.mjs';

const USAGE = `npm run build && npm run bench -- [options]
  --only a,b         operations: ${Object.keys(OPERATIONS).join(', ')}
  --before DIR       also compare with the service of another checkout that is built
  --pairs N          rounds for each operation (3)
  --seconds N        length of a round (3)
  --connections N    (32)
  --workers N        processes of the service and of the peer (1)`;

const DEFAULTS = { before: undefined, pairs: '3', seconds: '3', connections: '32', workers: '1' };
const { only, ...options } = readOptions(USAGE, Object.keys(OPERATIONS), DEFAULTS);

/** The number that replaces UNIQUE next. It has as many digits as UNIQUE, because Content-Length is set before. */
let numbers = 100_000_000;
await runToEnd(main);

async function main() {
  const [service, ...others] = await startContenders();
  const machine = `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}`;
  console.log(`${machine}; connections: ${options.connections}, processes: ${options.workers}`);
  const compared = [];
  for (const name of only) compared.push(await compare(name, service, others));
  others.forEach((other, index) => {
    const mean = (key) =>
      Math.exp(compared.reduce((sum, each) => sum + Math.log(each[index][key]), 0) / only.length);
    const [faster, cheaper] = [mean('faster').toFixed(2), mean('cheaper').toFixed(2)];
    console.log(
      `geometric mean of ${only.length} to ${other.name}: requests a second ×${faster}, cheaper ×${cheaper}`,
    );
  });
}

/** Starts all contenders and fills their stores. The service is the first one. */
async function startContenders() {
  const { workers: WORKERS, before } = options;
  const peer = await startPeer({ PROCESSES: WORKERS });
  const all = [await startService('service', { WORKERS }), peer];
  if (before !== undefined) all.push(await startService('before', { checkout: resolve(before), WORKERS }));
  for (const contender of all) contender.store = await fill(contender);
  await query(peer, 'ANALYZE');
  return all;
}

/** Prints the medians of an operation. Each round runs all contenders, one at a time, in another order. */
async function compare(name, service, others) {
  const all = [service, ...others];
  const scripts = new Map(all.map((contender) => [contender, scriptFor(name, contender)]));
  // A new process takes a while until its code is compiled.
  for (const contender of all) await load(name, contender, scripts.get(contender), 1);
  const rounds = [];
  for (let round = 0; round < Number(options.pairs); round += 1) {
    const results = new Map();
    for (const contender of round % 2 === 0 ? all : all.toReversed()) {
      results.set(contender, await load(name, contender, scripts.get(contender), options.seconds));
    }
    rounds.push(results);
  }
  const of = (contender, key, digits = 0) =>
    median(rounds.map((results) => results.get(contender)[key])).toFixed(digits);
  return others.map((other) => {
    const ratios = (ratio) => rounds.map((results) => ratio(results.get(service), results.get(other)));
    const faster = ratios((own, their) => own.perSecond / their.perSecond);
    const cheaper = ratios((own, their) => (their.server + their.database) / (own.server + own.database));
    const costs = [service, other].map((one) => [of(one, 'server'), of(one, 'database')]);
    console.log(
      `${name.padEnd(20)} to ${other.name} ${range(faster)}: ${of(service, 'perSecond')} and ${of(other, 'perSecond')}/s, ` +
        `p99 ${of(service, 'p99Ms', 1)} and ${of(other, 'p99Ms', 1)} ms; ` +
        `cheaper ${range(cheaper)}: ${costs.map((one) => one.join(' + ')).join(' and ')} µs`,
    );
    return { faster: median(faster), cheaper: median(cheaper) };
  });
}

function range(ratios) {
  const [middle, least, most] = [median(ratios), Math.min(...ratios), Math.max(...ratios)];
  return `×${middle.toFixed(2)} (${least.toFixed(2)}–${most.toFixed(2)})`;
}

/** A script of wrk that sends the requests of an operation. */
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
  const file = join(folder, `${numbers++}.lua`);
  writeFileSync(file, script);
  return file;
}

async function load(name, { name: contender, url, server, database }, script, seconds) {
  numbers += 200_000 * seconds;
  const args = ['-t1', `-c${options.connections}`, `-d${seconds}s`, '-s', script, url, String(numbers)];
  const before = [processorTime(server), processorTime(database)];
  const { stdout } = await run('wrk', args);
  const { requests, us, p99, unexpected, failed } = JSON.parse(/^RESULT (.*)$/m.exec(stdout)[1]);
  if (requests === 0 || unexpected > 0 || failed > 0) {
    throw new Error(`${name} of ${contender}: ${unexpected} other statuses, ${failed} failures\n${stdout}`);
  }
  return {
    perSecond: requests / (us / 1e6),
    p99Ms: p99 / 1_000,
    server: (processorTime(server) - before[0]) / requests,
    database: (processorTime(database) - before[1]) / requests,
  };
}
