// Writes src/generated, or the given folder, from openapi.yaml: the types, as openapi-typescript makes them, short names
// for those of its schemas, and the path of each operation with a comment for editors.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';
import { parse } from 'yaml';

const root = resolve(import.meta.dirname, '../../..');
const folder = resolve(process.argv[2] ?? join(root, 'libs/client/src/generated'));
const document = parse(readFileSync(join(root, 'openapi.yaml'), 'utf8'));
const HEAD = '// Generated from openapi.yaml by `npm run generate`.\n';
const write = (name, text) => writeFileSync(join(folder, name), HEAD + text);

write('schema.ts', astToString(await openapiTS(structuredClone(document))));

/** Pets and orders as responses have them, and no type like one of the browser's. */
const NAMES = { StoredPet: 'Pet', StoredOrder: 'Order', Event: 'StoreEvent', Error: 'ErrorBody' };
const types = Object.keys(document.components.schemas)
  .filter((name) => !Object.values(NAMES).includes(name))
  .map((name) => `export type ${NAMES[name] ?? name} = components['schemas']['${name}'];\n`);
write('types.ts', `import type { components } from './schema.ts';\n${types.join('')}`);

const entries = Object.entries(document.paths).flatMap(([path, operations]) =>
  Object.entries(operations).map(([method, { operationId, summary, description, deprecated }]) => {
    const mark = deprecated ? '@deprecated ' : '';
    const comment = `${summary}.\n${mark}${description}`.replaceAll('\n', '\n   * ');
    return `  /**\n   * ${comment}\n   */\n  ${operationId}: ['${method}', '${path}'],\n`;
  }),
);
write('operations.ts', `export const OPERATIONS = {\n${entries.join('')}} as const;\n`);
