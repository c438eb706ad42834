// Judges documents by the rule files at the root, as the command lines of Spectral and Redocly would. A program of its
// own: Redocly is an ES module, which jest does not load. Reads a JSON array of texts, each taken for openapi.yaml, from
// standard input, and writes an array of their findings.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { json } from 'node:stream/consumers';
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

async function spectralJudge() {
  const source = resolve(ROOT, '.spectral.yaml');
  const definition = parse(readFileSync(source, 'utf8'));
  const spectral = new Spectral();
  spectral.setRuleset(new Ruleset({ ...definition, extends: definition.extends.map(ruleSet) }, { source }));
  return async (text) => {
    const findings = await spectral.run(new Document(text, Yaml, FILE));
    return findings.map(({ code, path, message }) => ({ rule: code, at: path.join('/'), message }));
  };
}

async function redoclyJudge() {
  const config = await loadConfig({ configPath: resolve(ROOT, 'redocly.yaml') });
  return async (source) => {
    const findings = await lintFromString({ source, absoluteRef: FILE, config });
    return findings
      .filter(({ ignored }) => !ignored)
      .map(({ ruleId, location, message }) => ({ rule: ruleId, at: location[0]?.pointer ?? '', message }));
  };
}

const judges = [await spectralJudge(), await redoclyJudge()];
const verdicts = [];
for (const text of await json(process.stdin)) {
  const findings = [];
  for (const judge of judges) {
    findings.push(...(await judge(text)));
  }
  verdicts.push(findings);
}
process.stdout.write(JSON.stringify(verdicts));
