// `npm run test:generators` makes clients of the served document with the generators that callers use, compiles each client, and calls
// a service with it. It needs package registries. It prints a table, which names each tool that is skipped because it is not installed.
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { CARGO, GO, JAVA, PYTHON, RUST, SDK, TYPESCRIPT } from './programs.mjs';

const ROOT = resolve(import.meta.dirname, '../..');
const CLI = join(ROOT, 'bin/petstore.js');
const EXPECTED = '1 Ponies 404';
const folder = mkdtempSync(join(tmpdir(), 'petstore-generators-'));
const BIN = join(folder, 'node_modules/.bin');
const PORT = process.env.PORT ?? '4599';
const BASE = `http://127.0.0.1:${PORT}`;
const env = { ...process.env, DATA_DIR: join(folder, 'data'), PORT, METRICS_PORT: '0', BASE };

const run = (command, cwd = folder) =>
  execFileSync('bash', ['-c', command], {
    cwd,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();
const has = (program) => run(`command -v ${program} || true`) !== '';
const rows = [];

/** @param work returns a text that says what failed, or nothing */
function attempt(tool, call, needs, work) {
  if (needs && !has(needs)) return rows.push({ tool, call, result: `skipped: no ${needs}` });
  const row = { tool, call, result: 'works' };
  rows.push(row);
  try {
    row.result = work() ?? 'works';
  } catch (error) {
    row.result = `FAILED: ${`${error.stdout ?? ''}${error.stderr ?? error.message}`.trim().slice(0, 600)}`;
  }
}

// Maven resets the terminal's colours after the program's output.
const answered = (output) =>
  stripVTControlCharacters(output).trim().split('\n').at(-1) === EXPECTED
    ? undefined
    : `FAILED: printed ${output}`;
const place = (tool) => {
  const own = join(folder, tool.replace(/\W+/g, '-'));
  mkdirSync(own);
  cpSync(join(folder, 'openapi.json'), join(own, 'openapi.json'));
  return own;
};

function typescript([tool, { needs, generate, program }]) {
  attempt(tool, generate ?? 'at run time', needs, () => {
    const own = place(tool);
    if (generate) run(`${BIN}/${generate}`, own);
    writeFileSync(join(own, 'use.ts'), program);
    const types = '--strict --noEmit --skipLibCheck --types node --resolveJsonModule';
    run(`${BIN}/tsc ${types} --target es2022 --module esnext --moduleResolution bundler use.ts`, own);
    run(
      `${BIN}/esbuild use.ts --bundle --platform=node --format=esm --outfile=use.mjs --log-level=error \
      "--banner:js=import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);"`,
      own,
    );
    return answered(run('node use.mjs', own));
  });
}

/** Compiles the SDK, installed as by its users, with this version of TypeScript. */
function sdk(major) {
  attempt('@petstore/client', `tsc of TypeScript ${major}`, undefined, () => {
    const own = place(`sdk ${major}`);
    run('npm run --silent client:build', ROOT);
    const tarball = run(`npm pack --silent ${ROOT}/dist/client`, own).split('\n').at(-1);
    writeFileSync(join(own, 'package.json'), '{ "private": true }');
    run(`npm install --silent --no-audit --no-fund ./${tarball} typescript@${major} @types/node@20`, own);
    writeFileSync(join(own, 'use.mts'), SDK);
    const tsc = 'node_modules/.bin/tsc --strict --target es2022 --types node --skipLibCheck false';
    for (const module of ['esnext --moduleResolution bundler', 'nodenext']) {
      run(`${tsc} --module ${module} use.mts`, own);
    }
    return answered(run('node use.mjs', own));
  });
}

function postman() {
  const call = 'openapi2postmanv2 -s openapi.json -O parametersResolution=Example; newman run';
  attempt('openapi-to-postmanv2', call, undefined, () => {
    const own = place('postman');
    const options = 'folderStrategy=Paths,parametersResolution=Example';
    run(`${BIN}/openapi2postmanv2 -s openapi.json -o all.json -O ${options}`, own);
    const auth = `--env-var apiKey=$KEY --env-var baseUrl=$BASE`;
    run(
      `${BIN}/newman run all.json ${auth} --folder pets --folder categories --folder store --folder events -r json --reporter-json-export out.json || true`,
      own,
    );
    const sent = `JSON.parse(require('fs').readFileSync('out.json')).run.executions`;
    const refused = `${sent}.filter(({ response }) => !(response?.code < 400)).map(({ item, response }) => item.name + ' ' + response?.code)`;
    const left = run(`node -p "${refused}.join(', ')"`, own);
    return left === '' ? undefined : `FAILED: refused ${left}`;
  });
}

function python() {
  attempt(
    'openapi-python-client',
    'openapi-python-client generate --path openapi.json --meta none',
    'python3',
    () => {
      const own = place('python');
      run('python3 -m venv tools && tools/bin/pip install -q openapi-python-client==0.29.1', own);
      run(
        'PATH=$PWD/tools/bin:$PATH tools/bin/openapi-python-client generate --path openapi.json --meta none --output-path client',
        own,
      );
      writeFileSync(join(own, 'use.py'), PYTHON);
      return answered(run('tools/bin/python use.py', own));
    },
  );
}

function go([tool, { module, options, program }]) {
  attempt(tool, `go run ${module} ${options} openapi.json`, 'go', () => {
    const own = place(tool);
    run(`go run ${module} ${options} openapi.json`, own);
    writeFileSync(join(own, 'main.go'), program);
    run('go mod init example.org/use && go mod tidy', own);
    return answered(run('go run .', own));
  });
}

/** Downloads OpenAPI Generator, which is a jar, with Maven. */
function fetchOpenapiGenerator() {
  if (!has('mvn')) return;
  const artifact = 'org.openapitools:openapi-generator-cli:7.17.0';
  run(`mvn -q -B dependency:copy -Dartifact=${artifact} -DoutputDirectory=. -Dmdep.stripVersion=true`);
  const script = `#!/bin/sh\nexec java -jar ${folder}/openapi-generator-cli.jar "$@"\n`;
  writeFileSync(join(BIN, 'openapi-generator'), script, { mode: 0o755 });
}

function java() {
  const generate = 'openapi-generator generate -i openapi.json -g java -o client';
  attempt('openapi-generator java', generate, 'mvn', () => {
    const own = place('java');
    run(`${BIN}/${generate}`, own);
    writeFileSync(join(own, 'client/src/main/java/Use.java'), JAVA);
    const execute = 'org.codehaus.mojo:exec-maven-plugin:3.5.0:java -Dexec.mainClass=Use';
    return answered(run(`mvn -q -B --color never compile ${execute}`, join(own, 'client')));
  });
}

function rust() {
  attempt('progenitor', 'progenitor::generate_api!("openapi.json")', 'cargo', () => {
    const own = place('rust');
    mkdirSync(join(own, 'src'));
    writeFileSync(join(own, 'Cargo.toml'), CARGO);
    writeFileSync(join(own, 'src/main.rs'), RUST);
    return answered(run('cargo run --quiet', own));
  });
}

const service = spawn(process.execPath, [CLI, 'serve'], { env, stdio: 'ignore' });
try {
  cpSync(join(import.meta.dirname, 'package.json'), join(folder, 'package.json'));
  run('npm install --ignore-scripts --no-audit --no-fund');
  run('until curl -fsS $BASE/health/ready; do sleep 0.2; done');
  const limits = '--plan enterprise --per-minute 100000 --per-day 1000000';
  run(`node ${CLI} clients create --name generators ${limits}`);
  env.KEY = JSON.parse(run(`node ${CLI} keys issue --client generators --json`)).key;
  run('curl -fsS $BASE/openapi.json -o openapi.json');
  fetchOpenapiGenerator();
  Object.entries(TYPESCRIPT).forEach(typescript);
  ['5', '6'].forEach(sdk);
  postman();
  python();
  Object.entries(GO).forEach(go);
  java();
  rust();
} finally {
  service.kill();
  rmSync(folder, { recursive: true, force: true });
}
console.table(rows);
process.exitCode = rows.some(({ result }) => result.startsWith('FAILED')) ? 1 : 0;
