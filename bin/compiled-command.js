'use strict';

const { createHash } = require('node:crypto');
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const { createRequire, wrap } = require('node:module');
const { dirname, join } = require('node:path');
const { Script, constants } = require('node:vm');

/**
 * Runs the bundle of the commands and keeps its compiled code in a folder, because compiling takes 0.4 of the 1.0 seconds
 * of a command. `enableCompileCache` of newer versions of Node keeps only the functions that are compiled while the
 * bundle is loaded.
 * @param bundle the absolute path of a CommonJS file in ASCII
 * @param folder where the code is kept; if the folder cannot be written, every command compiles the bundle
 */
exports.runCompiled = (bundle, folder) => {
  const source = readFileSync(bundle, 'latin1');
  // V8 compares only the length of the source: the name of the file compares its content.
  const file = join(folder, `${createHash('sha256').update(source).digest('hex')}.${process.arch}`);
  const script = new Script(wrap(source), {
    filename: bundle,
    cachedData: readIfPresent(file),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  // `undefined` if there was no cached code, `true` if another version of V8 has made it.
  if (script.cachedDataRejected !== false) {
    process.once('exit', (code) => {
      // At the end of a run without an error, the code has the functions that the command calls.
      if (code === 0) {
        writeIfPossible(file, script.createCachedData());
      }
    });
  }
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(bundle), module, bundle, dirname(bundle));
};

function readIfPresent(file) {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

/** Renames a finished file into place, because another command may read it at the same time. */
function writeIfPossible(file, content) {
  try {
    mkdirSync(dirname(file), { recursive: true });
    const unfinished = `${file}.${process.pid}`;
    writeFileSync(unfinished, content);
    renameSync(unfinished, file);
  } catch {
    // The folder cannot be written: the next command compiles the bundle again.
  }
}
