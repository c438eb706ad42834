// Starts the contenders of the benchmarks: the service and the hand-written peer, each with a PostgreSQL of its own.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import embeddedPostgres from '#libs/embedded-postgres';
import pg from 'pg';

// Node cannot import single names from a module that SWC has compiled to CommonJS.
const { findData, startEmbeddedPostgres } = embeddedPostgres;

const ROOT = resolve(import.meta.dirname, '../..');
const LIMIT = ['--per-minute', '1000000000', '--per-day', '1000000000'];
const POLL_MS = 20;
export const run = promisify(execFile);
/** The folder of all files of a run. */
export const folder = mkdtempSync(join(tmpdir(), 'petstore-bench-'));
/** Functions, each of which stops a process or a database that runs. */
const running = new Set();

/** The processor time of a process and all its descendants, also of ended ones, in microseconds. */
export function processorTime(root) {
  const processes = readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const [, parent, ...fields] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
      // User and system time, then those of ended children, each in hundredths of a second.
      const us = fields.slice(9, 13).reduce((sum, field) => sum + Number(field) * 10_000, 0);
      return { pid: Number(pid), parent: Number(parent), us };
    } catch {
      // The process has just ended.
      return [];
    }
  });
  const below = ({ pid, us }) =>
    processes.filter(({ parent }) => parent === pid).reduce((sum, child) => sum + below(child), us);
  return below(processes.find(({ pid }) => pid === root));
}

/** Starts the service of a checkout, with a client whose limits no benchmark reaches. */
export async function startService(name, { checkout = ROOT, ...settings } = {}) {
  const petstore = join(checkout, 'bin/petstore.js');
  const { REDIS_URL } = process.env;
  const all = { METRICS_PORT: 'off', ...(REDIS_URL && { REDIS_URL }), ...settings };
  const contender = await startContender(name, [petstore, 'serve'], all);
  const admin = (...args) =>
    run(process.execPath, [petstore, ...args], { cwd: folder, env: contender.environment });
  const newKey = async (client) => {
    await admin('clients', 'create', '--name', client, '--plan', 'enterprise', ...LIMIT);
    return JSON.parse((await admin('keys', 'issue', '--client', client, '--json')).stdout).key;
  };
  const apiKey = await newKey('bench');
  const cursorAfter = (id) => Buffer.from(`after:${id}`).toString('base64url');
  return Object.assign(contender, { apiKey, newKey, admin, cursorAfter });
}

export async function startPeer(settings) {
  const program = [join(import.meta.dirname, 'peer.mjs')];
  const contender = await startContender('peer', program, { API_KEY: 'peer', ...settings });
  return Object.assign(contender, { apiKey: 'peer', cursorAfter: String });
}

/** Runs statements in the database of a contender, one after the other. @returns the rows of the last one */
export async function query({ environment }, ...statements) {
  const client = new pg.Client(environment.DATABASE_URL);
  await client.connect();
  let result;
  for (const statement of statements) result = await client.query(statement);
  await client.end();
  return result.rows;
}

/** Starts a program with a PostgreSQL of its own, and waits until it serves. All contenders have the same configuration of PostgreSQL. */
async function startContender(name, program, settings) {
  const dataDirectory = mkdtempSync(join(folder, name));
  const postgres = await startEmbeddedPostgres({ dataDirectory, database: 'petstore' });
  running.add(() => postgres.stop());
  const { dataFiles } = findData(dataDirectory, 'petstore');
  const database = Number.parseInt(readFileSync(join(dataFiles, 'postmaster.pid'), 'utf8'));
  // The developer's own variables are left out, because they could configure a contender.
  const { PATH, HOME } = process.env;
  const own = { NODE_ENV: 'production', DATABASE_URL: postgres.url };
  const environment = { PATH, HOME, ...own, ...settings };
  return { name, program, environment, database, ...(await serve(program, environment)) };
}

/** Starts a process of a contender. @returns its address, its process id, and a function that stops it */
export async function serve(program, environment) {
  const port = await freePort();
  const env = { ...environment, PORT: String(port) };
  // The contender formats and writes its log as usual, but the log is not kept.
  const stdio = ['ignore', 'ignore', 'inherit'];
  const child = spawn(process.execPath, program, { cwd: folder, env, stdio });
  const stop = async () => {
    running.delete(stop);
    if (child.exitCode === null && child.kill('SIGTERM')) await once(child, 'exit');
  };
  running.add(stop);
  const url = `http://127.0.0.1:${port}`;
  const headers = { 'X-API-Key': 'peer' };
  while (!(await fetch(`${url}/health/ready`, { headers }).catch(() => undefined))?.ok) {
    if (child.exitCode !== null) throw new Error(`${program.join(' ')} ended with ${child.exitCode}.`);
    await sleep(POLL_MS);
  }
  return { url, server: child.pid, stop };
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}

export function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

/**
 * Reads the options of a program, each a text. If `--help` is given, or `--only` has an unknown name, prints the usage
 * and ends the process.
 */
export function readOptions(usage, names, defaults) {
  const texts = Object.entries({ only: names.join(','), ...defaults });
  const options = Object.fromEntries(texts.map(([name, text]) => [name, { type: 'string', default: text }]));
  const { help, ...values } = parseArgs({ options: { ...options, help: { type: 'boolean' } } }).values;
  const only = values.only.split(',');
  const unknown = only.filter((name) => !names.includes(name));
  if (help || unknown.length > 0) {
    console.log(unknown.length > 0 ? `Unknown: ${unknown.join(', ')}\n${usage}` : usage);
    process.exit(help ? 0 : 2);
  }
  return { ...values, only };
}

/** Runs a program. At its end, or at a signal, stops all that was started and ends the process. */
export async function runToEnd(program) {
  let ending;
  const end = (code) => (ending ??= stopAll().then(() => process.exit(code)));
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void end(1));
  try {
    await program();
  } catch (error) {
    // After a signal, the program fails because its processes are stopped.
    if (ending === undefined) console.error(error);
    await end(1);
  }
  await end(0);
}

/** Stops all processes and databases, the newest first, and removes their files. */
async function stopAll() {
  for (const stop of [...running].reverse()) await stop();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
