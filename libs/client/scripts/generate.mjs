// Writes src/generated, or the given folder, from openapi.yaml: the paths, as openapi-typescript makes them; the schemas as
// interfaces with names, which editors show in errors; and the method and path of each operation, whether the operation needs
// a body, what its successful response has as a body, and a comment for editors.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';
import { parse } from 'yaml';

const root = resolve(import.meta.dirname, '../../..');
const folder = resolve(process.argv[2] ?? join(root, 'libs/client/src/generated'));
const document = parse(readFileSync(join(root, 'openapi.yaml'), 'utf8'));
const HEAD = '// Generated from openapi.yaml by `npm run generate`.\n';
const write = (name, text) => writeFileSync(join(folder, name), HEAD + text);

/** Pets and orders as responses have them, and no type like one of the browser's. */
const NAMES = { StoredPet: 'Pet', StoredOrder: 'Order', Event: 'StoreEvent', Error: 'ErrorBody' };
const { schemas } = document.components;
for (const [name, schema] of Object.entries(schemas)) {
  if (!name.startsWith('Stored')) continue;
  const { $ref } = schema.allOf.find((part) => part.$ref);
  const base = schemas[$ref.split('/').at(-1)];
  const required = [base, ...schema.allOf].flatMap((part) => part.required ?? []);
  schemas[name] = { ...base, required };
}
document.components.schemas = Object.fromEntries(
  Object.entries(schemas)
    .filter(([name]) => !Object.values(NAMES).includes(name))
    .map(([name, schema]) => [NAMES[name] ?? name, schema]),
);
// Codes may be added: others read them as text, but editors of TypeScript suggest those that there are.
const renamed = JSON.stringify(document)
  .replaceAll('"x-extensible-enum"', '"enum"')
  .replace(
    /"#\/components\/schemas\/(\w+)"/g,
    (_all, name) => `"#/components/schemas/${NAMES[name] ?? name}"`,
  );

const nodes = await openapiTS(JSON.parse(renamed));
const components = nodes.find(({ name }) => name?.text === 'components');
const declared = components.members
  .find(({ name }) => name.text === 'schemas')
  .type.members.map((member) => {
    const { name, type } = member;
    const exported = [ts.factory.createModifier(ts.SyntaxKind.ExportKeyword)];
    const declaration = ts.isTypeLiteralNode(type)
      ? ts.factory.createInterfaceDeclaration(exported, name, undefined, undefined, type.members)
      : ts.factory.createTypeAliasDeclaration(exported, name, undefined, type);
    return ts.setSyntheticLeadingComments(declaration, ts.getSyntheticLeadingComments(member));
  });
const SCHEMA = /components\["schemas"\]\["(\w+)"\]/g;
write('types.ts', astToString(declared).replace(SCHEMA, '$1'));
const others = components.members.filter(({ name }) => name.text !== 'schemas');
const rest = nodes.map((node) =>
  node === components
    ? ts.factory.createInterfaceDeclaration(node.modifiers, node.name, undefined, undefined, others)
    : node,
);
write(
  'schema.ts',
  `import type * as types from './types.ts';\n${astToString(rest).replace(SCHEMA, 'types.$1')}`,
);

/** Returns what a successful response of the operation has as its body: `array`, `object`, or `nothing`. */
function successOf({ responses }) {
  const [, response] = Object.entries(responses).find(([status]) => status.startsWith('2'));
  const { schema } = response.content?.['application/json'] ?? {};
  if (schema === undefined) return 'nothing';
  const { type } = schema.$ref ? schemas[schema.$ref.split('/').at(-1)] : schema;
  return type === 'array' ? 'array' : 'object';
}

const entries = Object.entries(document.paths).flatMap(([path, operations]) =>
  Object.entries(operations).map(([method, operation]) => {
    const { operationId, summary, description, deprecated, requestBody } = operation;
    const mark = deprecated ? '@deprecated ' : '';
    const comment = `${summary}.\n${mark}${description}`.replaceAll('\n', '\n   * ');
    const fields = [`'${method}'`, `'${path}'`, requestBody?.required === true, `'${successOf(operation)}'`];
    return `  /**\n   * ${comment}\n   */\n  ${operationId}: [${fields.join(', ')}],\n`;
  }),
);
write('operations.ts', `export const OPERATIONS = {\n${entries.join('')}} as const;\n`);
