import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, filesOf } from '../../support/files';

const FILES = filesOf('src/modules', '.ts').map((file) => ({
  file,
  module: file.split('/')[2]!,
  text: readFileSync(join(ROOT, file), 'utf8'),
}));

/** The module of each table. */
const OWNERS = new Map(
  FILES.flatMap(({ module, text }) =>
    [...text.matchAll(/@Entity\('(\w+)'/g)].map(([, table]) => [table!, module] as const),
  ),
);

/**
 * The modules that any file of each module may import. Events are left out, because the command executor writes them, and not the
 * modules that report them.
 */
const MAY_KNOW = new Map(
  filesOf('src/modules', 'imports.json').map((file) => {
    const module = file.split('/')[2]!;
    const { anyFile } = JSON.parse(readFileSync(join(ROOT, file), 'utf8')) as { anyFile: string[] };
    return [module, anyFile.filter((one) => one !== 'events' || module === 'webhooks')] as const;
  }),
);

/** Modules that read the table of the key or the client of their rows, each with the reason. */
const EXCEPTIONS: Record<string, string> = {
  'audit reads clients': 'the name of the client is copied in the round trip that writes the entry',
  'audit reads api_keys': 'it finds the client of a key',
};

/** Texts such as `quotas reads pets` for all tables in a statement that the module may not know. */
function foreignTables(module: string, text: string): string[] {
  const tables = [...text.matchAll(/\b(?:FROM|JOIN|INTO|UPDATE|TABLE) (\w+)|Join\('(\w+)'/g)];
  return tables
    .map(([, table = '', joined = table]) => joined)
    .filter((table) => ![undefined, module, ...MAY_KNOW.get(module)!].includes(OWNERS.get(table)))
    .map((table) => `${module} reads ${table}`);
}

it('The statements of a module name the tables of modules that it may import', () => {
  const found = FILES.flatMap(({ module, text }) => foreignTables(module, text));
  expect([...new Set(found)].sort()).toEqual(Object.keys(EXCEPTIONS).sort());
});

it.each([
  ['SELECT * FROM pets', ['categories reads pets']],
  ['SELECT FROM categories JOIN orders ON true', ['categories reads orders']],
  ['INSERT INTO events (id) VALUES ($1)', ['categories reads events']],
  [`query.innerJoin('clients', 'client')`, ['categories reads clients']],
  ['DELETE FROM categories; SELECT FROM pg_locks', []],
])('It finds in a statement of categories: %s', (text, found) => {
  expect(foreignTables('categories', text)).toEqual(found);
});
