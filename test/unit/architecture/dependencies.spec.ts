import { execFileSync } from 'node:child_process';
import { appendFileSync, cpSync, existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, useFolder } from '../../support/files';

const { forbidden } = jest.requireActual<{ forbidden: { name: string }[] }>(
  '../../../.dependency-cruiser.cjs',
);

/** Returns the name of the rule that says what the module imports. */
const importsOf = (module: string) =>
  forbidden.find(({ name }) => name.startsWith(`${module} imports `))!.name;

/** For the rule of each module, a file that breaks it: it imports a module that the rule does not name, and breaks no other rule. */
const OF_MODULES = forbidden.flatMap(({ name }): [rule: string, files: Record<string, string>][] => {
  const [, module, allowed = ''] = /^(\w+) imports (?:no other module|only (.+))$/.exec(name) ?? [];
  const other = ['deprecations', 'quotas'].find((one) => one !== module && !allowed.includes(one));
  return module === undefined ? [] : [[name, { [`${module}/a`]: `../${other}` }]];
});

/** For the rule about the controllers of a module, one service for each module that only the controllers may import. */
const OF_CONTROLLERS = forbidden.flatMap(({ name }): [rule: string, files: Record<string, string>][] => {
  const [, module, ofControllers = ''] = /^Only controllers of (\w+) import (.+)$/.exec(name) ?? [];
  const files = ofControllers.split(', ').map((other) => [`${module}/${other}.service`, `../${other}`]);
  return module === undefined ? [] : [[name, Object.fromEntries(files) as Record<string, string>]];
});

/** For each rule, files that break it. Each has the path that it imports, or a whole line. A module is named by its folder. */
const PLANTED = [
  ...OF_MODULES,
  ...OF_CONTROLLERS,
  ...Object.entries<Record<string, string>>({
    'Libraries import only from below': { 'libs/http/src/b': '../../../src/settings/settings' },
    'The settings and the type of a feature import only from below': {
      'src/settings/settings': '../migrations/1797000000000-schema',
      'src/feature': `import type { Schema1797000000000 } from './migrations/1797000000000-schema';`,
      'src/settings/environment': `const later = import('../runtime/stop-signals.js');`,
    },
    'Modules and migrations import only from below': {
      'pets/d': '../../http/error.filter',
      'pets/e.command': '../../cli/command-database',
      'pets/f': '../../store/data-source',
      'pets/g': `import type { FEATURES } from '../../features';`,
    },
    'The pipeline and its parts import only from below': {
      'src/http/b': '../runtime/serve',
      'src/store/seed': `import type { Failure } from '../runtime/failures';`,
    },
    'Files of the runtime import only from below': {
      'src/runtime/b': '../cli/command-database',
      'src/runtime/c': '../main',
    },
    [importsOf('pets')]: { 'pets/b': `const later = import('../orders');` },
    [importsOf('categories')]: {
      'categories/b': `import type { PetStatus } from '../pets';`,
    },
    'A module is imported only through its index': {
      'src/a': './modules/pets/pets.service',
      'src/cli/a': `import type { Pet } from '../modules/pets/pet.entity';`,
      'orders/b': '../inventory/inventory.dto',
    },
    'Only the list of features imports webhooks': { 'src/runtime/d': '../modules/webhooks' },
    'The settings of a feature import no module': { 'pets/settings': './pet-status' },
    'Files of a module do not import its own index': {
      'pets/c': './index',
      'libs/http/src/a': '#libs/http',
    },
    'The engine knows neither Nest nor what is built on it': {
      'libs/database/src/engine/a': `import { Injectable } from '@nestjs/common';`,
      'libs/database/src/engine/b': '../database',
    },
    'The database library does not know http': { 'libs/database/src/a': '#libs/http' },
    'Libraries are imported only as #libs/name': {
      'libs/http/src/c': '../../database/src',
      'src/b': '../libs/http/src/errors',
    },
    'The SDK imports nothing else': {
      'libs/client/src/a': 'node:fs',
      'libs/client/src/b': '#libs/http',
    },
    'Only commands import the SDK': { 'src/f': '#libs/client' },
    'There are no circular imports, types and imports on demand included': {
      'src/c': './d',
      'libs/http/src/d': `import type { E } from './e';`,
      'pets/h': `const later = import('./i.js');`,
    },
    'Migrations import only each other': { 'src/migrations/a': '../settings/settings' },
    'Commands are loaded on demand': { 'quotas/b': './keys.command' },
    'http does not import the application': { 'src/http/c': '../app.module' },
    'The counters of quotas import only its rules and entities': {
      'quotas/counters/c': '../quotas.service',
    },
    'The rules of quotas import only each other, the clock and a type of auth': {
      'quotas/rules/a': '../counters/quota-counters',
    },
    'The rules of quotas import only types of auth': {
      'quotas/rules/b': `import { SCOPES } from '../../auth';`,
    },
    'Every import can be resolved': { 'src/e': '#libs/http/src/errors' },
    'Domain rules import neither Nest nor TypeORM': {
      'pets/pet-status': '@nestjs/throttler',
      'quotas/rules/decision': 'ioredis',
    },
  }),
].flatMap(([rule, files]) =>
  Object.entries(files).map(([file, imported]): [rule: string, file: string, line: string] => [
    rule,
    `${/^(src|libs)\//.test(file) ? '' : 'src/modules/'}${file}.ts`,
    imported.includes(' ') ? imported : `import '${imported}';`,
  ]),
);

interface Violation {
  from: string;
  to: string;
  rule: { name: string };
}

/** The violations that dependency-cruiser finds below this directory. It runs as a program, because Jest does not load ES modules. */
function cruise(cwd: string): Violation[] {
  const program = join(ROOT, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
  // A copy has a link to the packages. Their paths must stay those of the link.
  const options = ['--config', '.dependency-cruiser.cjs', '--preserve-symlinks', '--output-type', 'json'];
  const args = [program, ...options, 'src', 'libs'];
  const json = execFileSync(process.execPath, args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 26 });
  const { summary } = JSON.parse(json) as { summary: { totalCruised: number; violations: Violation[] } };
  expect(summary.totalCruised).toBeGreaterThan(100);
  return summary.violations;
}

/** The violations in a copy of the sources with all planted imports. They are found once for all tests, because that takes seconds. */
let violations: Violation[];
const copy = useFolder();
beforeAll(() => {
  const configuration = ['package.json', 'tsconfig.json', '.dependency-cruiser.cjs'];
  for (const path of ['src', 'libs', ...configuration, 'test/support/resolve-sources.cjs']) {
    cpSync(join(ROOT, path), join(copy, path), { recursive: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'), 'dir');
  for (const [, file, line] of PLANTED) appendFileSync(join(copy, file), `${line}\n`);
  appendFileSync(join(copy, 'src/d.ts'), `import './c';\n`);
  appendFileSync(join(copy, 'libs/http/src/e.ts'), `import type { D } from './d';\n`);
  appendFileSync(join(copy, 'src/modules/pets/i.ts'), `import './h';\n`);
  violations = cruise(copy);
});

it('Every import is allowed', () => {
  const intoOldFiles =
    /^(src\/(modules\/deprecations\/index|migrations\/1797000000000-schema|runtime\/(failures|stop-signals))\.ts|node_modules\/(@nestjs\/throttler|ioredis)\/.*)$/;
  const isPlanted = ({ from, to }: Violation) =>
    !existsSync(join(ROOT, from)) || (PLANTED.some(([, file]) => file === from) && intoOldFiles.test(to));
  expect(violations.filter((violation) => !isPlanted(violation))).toEqual([]);
});

describe('The rules catch', () => {
  test.each(PLANTED)('"%s" broken in %s by %s', (rule, file) => {
    expect(violations.filter(({ from }) => from === file).map((violation) => violation.rule.name)).toContain(
      rule,
    );
  });

  it('violations of every existing rule', () => {
    const planted = new Set(PLANTED.map(([rule]) => rule));
    expect(forbidden.map(({ name }) => name).filter((name) => !planted.has(name))).toEqual([]);
  });
});
