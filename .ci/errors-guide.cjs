// Writes the table of the errors guide from the catalogue, which is complete once every feature is loaded.
require('reflect-metadata');
const { readFileSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { errorCatalogue } = require('#libs/http');
require('../dist/src/app.module.js');

const page = join(__dirname, '../docs/guides/errors.md');

const [text] = readFileSync(page, 'utf8').split(/^\| Code /m);
const rows = errorCatalogue().map(({ code, status, when }) => `| \`${code}\` | ${status} | ${when} |`);
writeFileSync(page, `${text}${['| Code | Status | Meaning |', '| - | - | - |', ...rows].join('\n')}\n`);
