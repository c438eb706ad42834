'use strict';

const { createHash } = require('node:crypto');
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const { createRequire, wrap } = require('node:module');
const { dirname, join } = require('node:path');
const { Script, constants } = require('node:vm');

/**
 * Runs the bundle of the commands, and keeps its compiled code in a folder for the next command, because compiling
 * takes 0.4 of the 1.0 seconds of a command. Node's own `enableCompileCache` would save less time, because it keeps
 * only the functions that are compiled while the bundle is loaded.
 * @param bundle the absolute path of a CommonJS file in ASCII
 * @param folder where the compiled code is kept; if the folder cannot be written, every command compiles the bundle
 */
exports.runCompiled = (bundle, folder) => {
  const source = readFileSync(bundle, 'latin1');
  // V8 checks only whether the length of the source is the same. The name of the cache file is a hash of the source, so
  // that a changed source gets another cache file.
  const file = join(folder, `${createHash('sha256').update(source).digest('hex')}.${process.arch}`);
  const script = new Script(wrap(source), {
    filename: bundle,
    cachedData: readIfPresent(file),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  // `cachedDataRejected` is `undefined` if there was no cached code, and `true` if another version of V8 made the
  // cached code. In both cases, write new cached code at the end.
  if (script.cachedDataRejected !== false) {
    process.once('exit', (code) => {
      // Save the compiled code only at the end of a command, because the script then holds the code of all functions
      // that the command called. Save nothing after an error, because a command that failed may have called only some
      // of its functions.
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

/**
 * Writes a file under a temporary name and then renames the file, because another command may read the file at the same
 * time. Ignores errors.
 */
function writeIfPossible(file, content) {
  try {
    mkdirSync(dirname(file), { recursive: true });
    const unfinished = `${file}.${process.pid}`;
    writeFileSync(unfinished, content);
    renameSync(unfinished, file);
  } catch {
    // Ignore the error if the folder cannot be written. The next command then compiles the bundle again.
  }
}
