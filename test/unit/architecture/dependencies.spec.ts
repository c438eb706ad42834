import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, Sources, type Violation, cruise } from '../../support/cruise';

/** An import that breaks each rule, and the file that contains it. */
const PLANTED: [rule: string, file: string, line: string][] = [
  ['orders imports only inventory and pets and audit', 'src/modules/orders/a.ts', `import '../categories';`],
  ['inventory imports only pets', 'src/modules/inventory/a.ts', `import '../orders';`],
  ['pets imports only categories', 'src/modules/pets/a.ts', `import '../inventory';`],
  [
    'categories imports no other module',
    'src/modules/categories/a.ts',
    `import type { PetStatus } from '../pets';`,
  ],
  [
    'catalogue imports only categories and pets and inventory and audit',
    'src/modules/catalogue/a.ts',
    `import '../orders';`,
  ],
  ['quotas imports only auth and audit', 'src/modules/quotas/a.ts', `import '../pets';`],
  ['quotas imports only auth and audit', 'src/modules/quotas/counting/a.ts', `import '../../../app.module';`],
  ['auth imports only audit', 'src/modules/auth/a.ts', `import '../quotas';`],
  ['auth imports only audit', 'src/modules/auth/b.ts', `import '../../settings';`],
  ['webhooks imports only events and audit', 'src/modules/webhooks/a.ts', `import '../pets';`],
  ['events imports no other module', 'src/modules/events/a.ts', `import '../pets';`],
  ['webhooks imports only events and audit', 'src/modules/webhooks/a.ts', `import '../orders';`],
  ['audit imports no other module', 'src/modules/audit/a.ts', `import '../quotas';`],
  ['deprecations imports no other module', 'src/modules/deprecations/a.ts', `import '../quotas';`],
  ['pets imports only categories', 'src/modules/pets/b.ts', `const later = import('../orders');`],
  [
    'Modules of the store import auth in controllers only',
    'src/modules/pets/a.service.ts',
    `import '../auth';`,
  ],
  ['A module is imported only through its index', 'src/a.ts', `import './modules/pets/pets.service';`],
  ['A module is imported only through its index', 'src/http/a.ts', `import '../modules/auth/key-directory';`],
  [
    'A module is imported only through its index',
    'src/cli/a.ts',
    `import type { Pet } from '../modules/pets/pet.entity';`,
  ],
  [
    'A module is imported only through its index',
    'src/modules/orders/b.ts',
    `import '../inventory/stock.entity';`,
  ],
  [
    'The data source imports only entities and migrations',
    'src/runtime/data-source.ts',
    `import '../modules/deprecations';`,
  ],
  ['Files of a module do not import its own index', 'src/modules/pets/c.ts', `import './index';`],
  ['Files of a module do not import its own index', 'src/modules/quotas/counting/b.ts', `import '..';`],
  ['Files of a module do not import its own index', 'libs/http/src/a.ts', `import '#libs/http';`],
  ['Libraries do not import the service', 'libs/http/src/b.ts', `import '../../../src/settings';`],
  ['Libraries are imported only as #libs/name', 'libs/http/src/c.ts', `import '../../errors/src';`],
  ['Libraries are imported only as #libs/name', 'src/b.ts', `import '../libs/http/src/errors';`],
  ['The client imports only openapi-fetch', 'libs/client/src/a.ts', `import 'node:fs';`],
  ['The client imports only openapi-fetch', 'libs/client/src/b.ts', `import '#libs/errors';`],
  ['The service does not import the client', 'src/f.ts', `import '#libs/client';`],
  ['The service does not import the client', 'libs/http/src/d.ts', `import '#libs/client';`],
  ['There are no circular imports', 'src/c.ts', `import './d';`],
  ['Nothing imports the command line', 'src/runtime/b.ts', `import '../cli/output/output';`],
  ['Modules import neither http nor runtime', 'src/modules/pets/d.ts', `import '../../http/cors';`],
  ['http does not import runtime', 'src/http/b.ts', `import '../runtime/serve';`],
  ['http does not import the application', 'src/http/c.ts', `import '../app.module';`],
  [
    'Counting does not import admin, fleet or workers',
    'src/modules/quotas/counting/c.ts',
    `import '../fleet/quota-script';`,
  ],
  [
    'The rules of quotas import only each other',
    'src/modules/quotas/rules/a.ts',
    `import '../counting/quota-store';`,
  ],
  ['Every import can be resolved', 'src/e.ts', `import '#libs/http/src/errors';`],
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
    return ['Domain rules import neither Nest nor TypeORM', `src/modules/${file}.ts`, `import '${what}';`];
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
