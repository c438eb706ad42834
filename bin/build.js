'use strict';

// Compiles the sources to dist/ unless it holds them, and bundles the command line unless that is left out (--server).
// Types are checked by `npm run typecheck`, and while `npm run dev` runs.
const { spawnSync } = require('node:child_process');
const { createHash } = require('node:crypto');
const { cpSync, existsSync, mkdirSync, readFileSync, readdirSync } = require('node:fs');
const { rmSync, utimesSync, writeFileSync } = require('node:fs');
const { basename, dirname, join } = require('node:path');
const { COMPILED } = require('./command-line');

const root = join(__dirname, '..');
const dist = join(root, 'dist');
/** Holds the digest of the sources. bin/petstore.js compares its time with theirs. */
const built = join(dist, '.built');
/** `npm run dev` compiles to the same folder, and records that here. */
const watched = join(dist, '.tsbuildinfo');

const SOURCE = /(?<!\.d)\.ts$/;
/** Browsers load these as they are. */
const ASSET = /\.(css|js)$/;
/** An `import()` stays one, and sees the names that a compiled file exports. */
const MODULE = { type: 'commonjs', ignoreDynamic: true, exportInteropAnnotation: true };

const started = new Date();
const sources = sourceFiles();
const digest = digestOf([
  'package.json',
  'package-lock.json',
  '.swcrc',
  'bin/build.js',
  'bin/bundle.js',
  ...sources,
]);
const isBuilt = existsSync(built) && readFileSync(built, 'utf8') === digest;
if (!isBuilt || existsSync(watched)) {
  [built, watched].forEach((file) => rmSync(file, { force: true }));
  compile();
  writeFileSync(built, digest);
}
if (!process.argv.includes('--server') && !existsSync(COMPILED)) {
  const { status } = spawnSync(process.execPath, [join(__dirname, 'bundle.js')], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
}
// A source saved during the build is newer than the recorded time, so the next start builds again.
utimesSync(built, started, started);

/** Everything that the service is compiled from. */
function sourceFiles() {
  const libraries = readdirSync(join(root, 'libs')).filter((name) => name !== 'client');
  return ['src', ...libraries.map((name) => join('libs', name, 'src'))].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .filter((name) => SOURCE.test(name) || ASSET.test(name))
      .map((name) => join(folder, name)),
  );
}

function digestOf(names) {
  const hash = createHash('sha256');
  for (const name of names.filter((each) => existsSync(join(root, each)))) {
    hash.update(name).update(readFileSync(join(root, name)));
  }
  return hash.digest('hex');
}

function compile() {
  const { transformSync } = loadCompiler();
  const made = new Set();
  for (const name of sources) {
    const [source, file] = [join(root, name), join(dist, name.replace(SOURCE, '.js'))];
    made.add(file).add(`${file}.map`);
    mkdirSync(dirname(file), { recursive: true });
    if (ASSET.test(name)) {
      cpSync(source, file);
      continue;
    }
    const options = { cwd: root, filename: source, sourceFileName: source, module: MODULE };
    const { code, map } = transformSync(readFileSync(source, 'utf8'), options);
    writeFileSync(`${file}.map`, map);
    writeFileSync(file, `${code}//# sourceMappingURL=${basename(file)}.map\n`);
  }
  removeAllBut(made);
}

function loadCompiler() {
  try {
    return require('@swc/core');
  } catch {
    process.stderr.write('petstore: the compiler is not installed; run npm ci first, without --omit=dev.\n');
    return process.exit(1);
  }
}

/** Removes what has no source any more, and the bundle of what was there before. */
function removeAllBut(made) {
  for (const folder of [join(dist, 'src'), join(dist, 'libs')]) {
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((file) => !made.has(file))
      .forEach((file) => rmSync(file));
  }
}
