import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, Sources, type Violation, cruise } from '../../support/cruise';

/** For each rule, an import that breaks it: in which file, and of what. */
const PLANTED: [rule: string, file: string, line: string][] = [
  [
    'orders knows inventory and pets and audit, and nobody else',
    'src/modules/orders/a.ts',
    `import '../categories';`,
  ],
  ['inventory knows pets, and nobody else', 'src/modules/inventory/a.ts', `import '../orders';`],
  ['pets knows categories, and nobody else', 'src/modules/pets/a.ts', `import '../inventory';`],
  [
    'categories knows no other module',
    'src/modules/categories/a.ts',
    `import type { PetStatus } from '../pets';`,
  ],
  [
    'catalogue knows categories and pets and inventory and audit, and nobody else',
    'src/modules/catalogue/a.ts',
    `import '../orders';`,
  ],
  ['quotas knows auth and audit, and nobody else', 'src/modules/quotas/a.ts', `import '../pets';`],
  [
    'quotas knows auth and audit, and nobody else',
    'src/modules/quotas/counting/a.ts',
    `import '../../../app.module';`,
  ],
  ['auth knows audit, and nobody else', 'src/modules/auth/a.ts', `import '../quotas';`],
  ['auth knows audit, and nobody else', 'src/modules/auth/b.ts', `import '../../settings';`],
  ['webhooks knows events and audit, and nobody else', 'src/modules/webhooks/a.ts', `import '../pets';`],
  ['events knows no other module', 'src/modules/events/a.ts', `import '../pets';`],
  ['webhooks knows events and audit, and nobody else', 'src/modules/webhooks/a.ts', `import '../orders';`],
  ['audit knows no other module', 'src/modules/audit/a.ts', `import '../quotas';`],
  ['deprecations knows no other module', 'src/modules/deprecations/a.ts', `import '../quotas';`],
  ['pets knows categories, and nobody else', 'src/modules/pets/b.ts', `const later = import('../orders');`],
  ['The store knows auth in its controllers only', 'src/modules/pets/a.service.ts', `import '../auth';`],
  ['Outsiders know a module by its face only', 'src/a.ts', `import './modules/pets/pets.service';`],
  ['Outsiders know a module by its face only', 'src/http/a.ts', `import '../modules/auth/key-directory';`],
  [
    'Outsiders know a module by its face only',
    'src/cli/a.ts',
    `import type { Pet } from '../modules/pets/pet.entity';`,
  ],
  [
    'Outsiders know a module by its face only',
    'src/modules/orders/b.ts',
    `import '../inventory/stock.entity';`,
  ],
  [
    'The data source knows entities and migrations only',
    'src/runtime/data-source.ts',
    `import '../modules/deprecations';`,
  ],
  ['Siblings do not import their own face', 'src/modules/pets/c.ts', `import './index';`],
  ['Siblings do not import their own face', 'src/modules/quotas/counting/b.ts', `import '..';`],
  ['Siblings do not import their own face', 'libs/http/src/a.ts', `import '#libs/http';`],
  ['Libraries know nothing of the service', 'libs/http/src/b.ts', `import '../../../src/settings';`],
  ['Libraries are known by the name #libs only', 'libs/http/src/c.ts', `import '../../errors/src';`],
  ['Libraries are known by the name #libs only', 'src/b.ts', `import '../libs/http/src/errors';`],
  ['The client stands alone: it knows openapi-fetch only', 'libs/client/src/a.ts', `import 'node:fs';`],
  ['The client stands alone: it knows openapi-fetch only', 'libs/client/src/b.ts', `import '#libs/errors';`],
  ['The client stands alone: nobody of the service knows it', 'src/f.ts', `import '#libs/client';`],
  ['The client stands alone: nobody of the service knows it', 'libs/http/src/d.ts', `import '#libs/client';`],
  ['Nobody imports in a circle', 'src/c.ts', `import './d';`],
  ['Nobody imports the command line', 'src/runtime/b.ts', `import '../cli/output/output';`],
  ['Modules know neither HTTP nor the runtime', 'src/modules/pets/d.ts', `import '../../http/cors';`],
  ['HTTP does not know the runtime', 'src/http/b.ts', `import '../runtime/serve';`],
  ['HTTP does not know the application', 'src/http/c.ts', `import '../app.module';`],
  [
    'Counting knows its rules, and nobody who counts elsewhere',
    'src/modules/quotas/counting/c.ts',
    `import '../fleet/quota-script';`,
  ],
  [
    'The rules of quotas know nothing but each other',
    'src/modules/quotas/rules/a.ts',
    `import '../counting/quota-store';`,
  ],
  ['Every import leads somewhere', 'src/e.ts', `import '#libs/http/src/errors';`],
  ...[
    'orders/order-status',
    'pets/pet-status',
    'catalogue/bad-lines',
    'quotas/rules/plans',
    'quotas/rules/decision',
  ].map(pure('@nestjs/terminus')),
  ...['quotas/rules/rate-window', 'quotas/rules/ban-rules', 'quotas/rules/rate-limit-headers'].map(
    pure('ioredis'),
  ),
];

function pure(what: string) {
  return (file: string): [string, string, string] => {
    return [
      'Rules of the domain are pure: neither Nest nor TypeORM',
      `src/modules/${file}.ts`,
      `import '${what}';`,
    ];
  };
}

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
