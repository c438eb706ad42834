import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../support/files';
import { Sources, type Violation, cruise } from './support/cruise';

/** For each rule, files with an import that breaks it: what they import, or the whole line. Modules go by their folder. */
const PLANTED = Object.entries<Record<string, string>>({
  'orders knows inventory and pets and audit, and nobody else': { 'orders/a': '../categories' },
  'inventory knows pets, and nobody else': { 'inventory/a': '../orders' },
  'pets knows categories, and nobody else': {
    'pets/a': '../inventory',
    'pets/b': `const later = import('../orders');`,
  },
  'categories knows no other module': { 'categories/a': `import type { PetStatus } from '../pets';` },
  'catalogue knows categories and pets and inventory and audit, and nobody else': {
    'catalogue/a': '../orders',
  },
  'quotas knows auth and audit, and nobody else': {
    'quotas/a': '../pets',
    'quotas/counting/a': '../../../app.module',
  },
  'auth knows audit, and nobody else': { 'auth/a': '../quotas', 'auth/b': '../../settings' },
  'webhooks knows events and audit, and nobody else': { 'webhooks/a': '../pets', 'webhooks/b': '../orders' },
  'events knows no other module': { 'events/a': '../pets' },
  'audit knows no other module': { 'audit/a': '../quotas' },
  'deprecations knows no other module': { 'deprecations/a': '../quotas' },
  'The store knows auth in its controllers only': { 'pets/a.service': '../auth' },
  'Outsiders know a module by its face only': {
    'src/a': './modules/pets/pets.service',
    'src/http/a': '../modules/auth/key-directory',
    'src/cli/a': `import type { Pet } from '../modules/pets/pet.entity';`,
    'orders/b': '../inventory/stock.entity',
  },
  'The data source knows entities and migrations only': {
    'src/runtime/data-source': '../modules/deprecations',
  },
  'Siblings do not import their own face': {
    'pets/c': './index',
    'quotas/counting/b': '..',
    'libs/http/src/a': '#libs/http',
  },
  'Libraries know nothing of the service': { 'libs/http/src/b': '../../../src/settings' },
  'Libraries are known by the name #libs only': {
    'libs/http/src/c': '../../errors/src',
    'src/b': '../libs/http/src/errors',
  },
  'The client stands alone: it knows openapi-fetch only': {
    'libs/client/src/a': 'node:fs',
    'libs/client/src/b': '#libs/errors',
  },
  'The client stands alone: nobody of the service knows it': {
    'src/f': '#libs/client',
    'libs/http/src/d': '#libs/client',
  },
  'Nobody imports in a circle': { 'src/c': './d' },
  'Nobody imports the command line': { 'src/runtime/b': '../cli/output/output' },
  'Modules know neither HTTP nor the runtime': { 'pets/d': '../../http/cors' },
  'HTTP does not know the runtime': { 'src/http/b': '../runtime/serve' },
  'HTTP does not know the application': { 'src/http/c': '../app.module' },
  'Counting knows its rules, and nobody who counts elsewhere': {
    'quotas/counting/c': '../fleet/quota-script',
  },
  'The rules of quotas know nothing but each other': { 'quotas/rules/a': '../counting/quota-store' },
  'Every import leads somewhere': { 'src/e': '#libs/http/src/errors' },
  'Rules of the domain are pure: neither Nest nor TypeORM': {
    'orders/order-status': '@nestjs/terminus',
    'pets/pet-status': '@nestjs/terminus',
    'catalogue/bad-lines': '@nestjs/terminus',
    'quotas/rules/plans': '@nestjs/terminus',
    'quotas/rules/decision': '@nestjs/terminus',
    'quotas/rules/rate-window': 'ioredis',
    'quotas/rules/ban-rules': 'ioredis',
    'quotas/rules/rate-limit-headers': 'ioredis',
  },
}).flatMap(([rule, files]) =>
  Object.entries(files).map(([file, imported]): [rule: string, file: string, line: string] => [
    rule,
    `${/^(src|libs)\//.test(file) ? '' : 'src/modules/'}${file}.ts`,
    imported.includes(' ') ? imported : `import '${imported}';`,
  ]),
);

/** Of the sources with all of that planted in them: to look at them takes seconds, so it is done once. */
let violations: Violation[];
beforeAll(() => {
  const sources = new Sources();
  for (const [, file, line] of PLANTED) {
    sources.plant(file, line);
  }
  sources.plant('src/d.ts', `import './c';`);
  violations = cruise(sources.directory);
  sources.remove();
});

it('Every import is allowed', () => {
  const intoOldFiles =
    /^(src\/modules\/deprecations\/index\.ts|node_modules\/(@nestjs\/terminus|ioredis)\/.*)$/;
  const isPlanted = ({ from, to }: Violation) =>
    !existsSync(join(ROOT, from)) || (PLANTED.some(([, file]) => file === from) && intoOldFiles.test(to));
  expect(violations.filter((violation) => !isPlanted(violation))).toEqual([]);
});

describe('The rules catch', () => {
  test.each(PLANTED)('"%s" broken in %s by %s', (rule, file) => {
    expect(violations.filter(({ from }) => from === file).map((violation) => violation.rule)).toContain(rule);
  });

  it('violations of every existing rule', () => {
    const { forbidden } = jest.requireActual<{ forbidden: { name: string }[] }>(
      '../../../.dependency-cruiser.cjs',
    );
    const planted = new Set(PLANTED.map(([rule]) => rule));
    expect(forbidden.map(({ name }) => name).filter((name) => !planted.has(name))).toEqual([]);
  });
});
