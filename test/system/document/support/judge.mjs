// Judges openapi.yaml, from standard input, by the rule files at the root, as the command lines of Spectral and Redocly would. A program of its
// own: Redocly is an ES module, which jest does not load.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { lintFromString, loadConfig } from '@redocly/openapi-core';
import { parse } from 'yaml';

const require = createRequire(import.meta.url);
const { Document, Ruleset, Spectral } = require('@stoplight/spectral-core');
const { Yaml } = require('@stoplight/spectral-parsers');
const { oas } = require('@stoplight/spectral-rulesets');

const ROOT = resolve(import.meta.dirname, '../../../..');
const FILE = resolve(ROOT, 'openapi.yaml');

/** Spectral's command line looks names of rule sets up like this; its own loader is a bundler. */
function ruleSet(name) {
  return name === 'spectral:oas' ? oas : require(name);
}

async function spectralFindings(source) {
  const rules = resolve(ROOT, '.spectral.yaml');
  const definition = parse(readFileSync(rules, 'utf8'));
  const spectral = new Spectral();
  spectral.setRuleset(
    new Ruleset({ ...definition, extends: definition.extends.map(ruleSet) }, { source: rules }),
  );
  const findings = await spectral.run(new Document(source, Yaml, FILE));
  return findings.map(({ code, path, message }) => ({ rule: code, at: path.join('/'), message }));
}

async function redoclyFindings(source) {
  const config = await loadConfig({ configPath: resolve(ROOT, 'redocly.yaml') });
  const findings = await lintFromString({ source, absoluteRef: FILE, config });
  return findings
    .filter(({ ignored }) => !ignored)
    .map(({ ruleId, location, message }) => ({ rule: ruleId, at: location[0]?.pointer ?? '', message }));
}

const document = await text(process.stdin);
process.stdout.write(
  JSON.stringify([...(await spectralFindings(document)), ...(await redoclyFindings(document))]),
);
