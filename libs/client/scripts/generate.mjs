// Writes the folder src/generated, or the folder that is given as an argument, from openapi.yaml. `schema.ts` gets the
// types of all paths, as openapi-typescript makes these types. `types.ts` gets the schemas as interfaces with names,
// because editors show these names in errors. `operations.ts` gets for each operation the method, the path, whether a
// request needs a body, the kind of body of the successful response, and a comment for editors.
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

/**
 * The names of some types, by the names of their schemas. `Pet` and `Order` are pets and orders as responses have them.
 * `StoreEvent` and `ErrorBody` differ from the global types `Event` and `Error` of browsers.
 */
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
// A list of values that may grow, such as the error codes, is an `x-extensible-enum` in openapi.yaml, which other tools
// read as any text. Turn such a list into an `enum`, so that editors of TypeScript suggest the known values.
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
