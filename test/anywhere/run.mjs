// Runs the suite in variations, as on machines that differ from this one, and prints a table: docs/development/testing.md.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, relative, resolve } from 'node:path';
import { transformFileSync } from '@swc/core';
import { VARIATIONS } from './variations.mjs';

const ROOT = resolve(import.meta.dirname, '../..');
const USAGE = `npm run test:anywhere -- [variation …] [-- jest's options and files]
${Object.entries(VARIATIONS)
  .map(
    ([name, { what, onRequest }]) => `  ${name.padEnd(10)} ${what}${onRequest ? ' (only by its name)' : ''}`,
  )
  .join('\n')}`;

// On Debian, the PATH of ordinary users lacks the programs of administrators.
process.env.PATH += `${delimiter}/usr/sbin`;
const require = createRequire(import.meta.url);
require.extensions['.ts'] = (module, file) =>
  module._compile(transformFileSync(file, { module: { type: 'commonjs' } }).code, file);
const { FAKETIME, LOCALES, ensurePrograms } = require('../support/programs.ts');

const end = process.argv.indexOf('--', 2);
const names = process.argv.slice(2, end < 0 ? undefined : end);
const forJest = end < 0 ? [] : process.argv.slice(end + 1);
const unknown = names.filter((name) => !(name in VARIATIONS));
if (unknown.length > 0) {
  console.log(`${unknown.includes('--help') ? '' : `Unknown: ${unknown.join(', ')}\n`}${USAGE}`);
  process.exit(unknown.includes('--help') ? 0 : 2);
}
const chosen = Object.entries(VARIATIONS).filter(([name, { onRequest }]) =>
  names.length > 0 ? names.includes(name) : !onRequest,
);

const isRoot = process.getuid() === 0;
const folder = mkdtempSync(join(tmpdir(), 'petstore-anywhere-'));
// The ordinary user needs access to the clone.
chmodSync(folder, 0o755);
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

function run(program, args, cwd = folder) {
  return execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}

/** @returns environment variables that give every process the time, the time zone and the locale of the variation */
function machine({ time, zone, locale }) {
  const variables = {};
  if (zone !== undefined) variables.TZ = zone;
  if (locale !== undefined) variables.LC_ALL = locale;
  if (locale?.includes('_')) {
    const [source, charset] = locale.split('.');
    run('localedef', ['-i', source, '-f', charset, join(folder, locale)]);
    variables.LOCPATH = folder;
  }
  if (time !== undefined) {
    // The time is an offset, so that all processes have the same time, whenever they start.
    const seconds = Math.round((time.getTime() - Date.now()) / 1_000);
    variables.FAKETIME = `${seconds < 0 ? '' : '+'}${seconds}`;
    // Timers use the monotonic clock, which must not be faked.
    variables.FAKETIME_DONT_FAKE_MONOTONIC = '1';
    variables.LD_PRELOAD = run('faketime', ['-f', '+0', 'printenv', 'LD_PRELOAD']).trim();
  }
  if (Object.keys(variables).length > 0) {
    variables.NODE_OPTIONS = `--require "${join(import.meta.dirname, 'inherit.cjs')}"`;
    variables.ANYWHERE_VARIABLES = [...Object.keys(variables), 'ANYWHERE_VARIABLES'].join(' ');
  }
  return variables;
}

/** Clones the repository with its packages, for the user. @returns the folder */
function makeClone({ clone, user }) {
  const root = join(folder, clone);
  run('git', ['clone', '--quiet', ROOT, root]);
  run('cp', ['-a', '--reflink=auto', join(ROOT, 'node_modules'), root]);
  if (user !== undefined && isRoot) run('chown', ['-hR', `${user}:`, root]);
  return root;
}

/** @returns the folder with the programs of this major version of Node, from npm's package of them */
function fetchNode(major) {
  const own = join(folder, `node${major}`);
  mkdirSync(own);
  run('npm', ['pack', '--silent', `node-${process.platform}-${process.arch}@${major}`], own);
  run('sh', ['-c', 'tar -xzf *.tgz'], own);
  return join(own, 'package/bin');
}

/** @returns the beginning of a command line that runs the command after it as this user, with a home */
function asUser(user) {
  const home = join(folder, 'home');
  mkdirSync(home);
  run('chown', [`${user}:`, home]);
  const ids = [`--reuid=${user}`, `--regid=${run('id', ['-g', user]).trim()}`, '--clear-groups'];
  return ['setpriv', ...ids, 'env', `HOME=${home}`, `USER=${user}`, `LOGNAME=${user}`];
}

/** Runs Jest. @returns its report, its exit code, its folder and its output */
async function runSuite(variation) {
  const { projects, leftOut = {}, user, node, within = [] } = variation;
  const root = variation.clone === undefined ? ROOT : makeClone(variation);
  const env = { ...process.env, ...machine(variation) };
  const bin = node === undefined ? dirname(process.execPath) : fetchNode(node);
  env.PATH = `${bin}${delimiter}${env.PATH}`;
  const results = join(root === ROOT ? folder : root, 'results.json');
  const ignored = Object.keys(leftOut).flatMap((file) => ['--testPathIgnorePatterns', `/${file}$`]);
  const [program, ...args] = [
    ...(user !== undefined && isRoot ? asUser(user) : []),
    ...within,
    ...['node', join(root, 'node_modules/jest/bin/jest.js'), ...forJest],
    ...['--ci', '--json', '--outputFile', results, '--selectProjects', ...projects, ...ignored],
  ];
  // In a process group of its own, so that an interruption ends the tests' processes as well.
  const child = spawn(program, args, { cwd: root, env, stdio: ['ignore', 'ignore', 'pipe'], detached: true });
  const endGroup = () => process.kill(-Number(child.pid), 'SIGKILL');
  process.once('exit', endGroup);
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (output += text));
  const [code] = await once(child, 'close');
  process.off('exit', endGroup);
  const report = existsSync(results) ? JSON.parse(readFileSync(results, 'utf8')) : { testResults: [] };
  rmSync(results, { force: true });
  if (root !== ROOT) rmSync(root, { recursive: true });
  return { code, root, report, output };
}

/** The status of each test. A file that could not be loaded counts as a test. */
function testsOf({ root, report }) {
  return report.testResults.flatMap(({ name, message, assertionResults }) => {
    const file = relative(root, name);
    const tests = assertionResults.map(({ fullName, status }) => ({ test: `${file}: ${fullName}`, status }));
    return tests.length > 0
      ? tests
      : [{ test: `${file}: ${message.trim().split('\n')[0]}`, status: 'failed' }];
  });
}

/** @returns a row of the table, and the tests that were skipped */
async function attempt(name, variation) {
  const row = { variation: name, ran: variation.projects.join(', '), tests: '-', seconds: 0, failure: '' };
  const start = performance.now();
  let skipped = [];
  try {
    const outcome = await runSuite(variation);
    const tests = testsOf(outcome);
    const [passed, failed] = ['passed', 'failed'].map((status) =>
      tests.filter((one) => one.status === status),
    );
    skipped = tests.filter(({ status }) => status === 'pending').map(({ test }) => test);
    row.tests = `${passed.length} passed, ${failed.length} failed, ${skipped.length} skipped`;
    const unexplained = skipped.find((test) => !/\(needs .+\)$/.test(test));
    if (outcome.code !== 0) row.failure = failed[0]?.test ?? `jest ended with ${outcome.code}`;
    else if (passed.length === 0) row.failure = 'no test has run';
    else if (unexplained !== undefined) row.failure = `skipped without a reason in its name: ${unexplained}`;
    if (row.failure !== '') console.error(outcome.output);
  } catch (error) {
    row.failure = error.message;
  }
  row.seconds = Math.round((performance.now() - start) / 1_000);
  return { row, skipped };
}

const rows = [];
const notes = [];
try {
  const differing = (what) => chosen.some(([, variation]) => variation[what] !== undefined);
  ensurePrograms(...(differing('time') ? [FAKETIME] : []), ...(differing('locale') ? [LOCALES] : []));
  if (differing('clone') && run('git', ['status', '--porcelain'], ROOT) !== '') {
    console.error('The clones have only what is committed.');
  }
  for (const [name, variation] of chosen) {
    console.error(`${name}: ${variation.what} …`);
    const { row, skipped } = await attempt(name, variation);
    rows.push(row);
    const leftOut = Object.entries(variation.leftOut ?? {});
    notes.push(...leftOut.map(([file, reason]) => `${name} leaves out ${file}: ${reason}`));
    notes.push(...skipped.map((test) => `${name} skipped ${test}`));
  }
} finally {
  console.table(rows);
  notes.forEach((note) => console.log(note));
  process.exitCode = rows.length < chosen.length || rows.some(({ failure }) => failure !== '') ? 1 : 0;
}
