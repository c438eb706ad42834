// Writes the table of the errors guide from the catalogue, which is complete once every feature is loaded.
require('reflect-metadata');
const { readFileSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { errorCatalogue } = require('#libs/http');
const { loadFeatures } = require('../dist/src/features.js');

const page = join(__dirname, '../docs/guides/errors.md');

async function writeTable() {
  require('../dist/src/app.module.js');
  await loadFeatures();
  const [text] = readFileSync(page, 'utf8').split(/^\| Code /m);
  const rows = errorCatalogue().map(({ code, status, when }) => `| \`${code}\` | ${status} | ${when} |`);
  writeFileSync(page, `${text}${['| Code | Status | Meaning |', '| - | - | - |', ...rows].join('\n')}\n`);
}

writeTable();
