// Generates parts of the client from the interface description (JSON on standard input) in the given folder: types, the
// routes of the operations, and a class for each error code.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import openapiTS, { COMMENT_HEADER, astToString } from 'openapi-typescript';
import { format, resolveConfig } from 'prettier';

const document = JSON.parse(await text(process.stdin));
const [folder] = process.argv.slice(2);
const config = await resolveConfig(import.meta.filename);

mkdirSync(folder, { recursive: true });
await write('routes.ts', routesOf(document));
await write('error-classes.ts', errorClassesOf(document.components.schemas.Error.properties.code.enum));

// The specification requires none of these, so the document does not; the service always sends them.
document.components.schemas.Pet.required.push('status');
document.components.schemas.Order.required = ['id', 'petId', 'quantity', 'complete'];

for (const operations of Object.values(document.paths)) {
  for (const { responses } of Object.values(operations)) {
    keepWhatCallsNeed(responses);
  }
}
for (const unused of ['headers', 'responses', 'examples']) {
  delete document.components[unused];
}

// A field with a default is optional in a request, but openapi-typescript treats it as required by default.
const types = await openapiTS(document, { defaultNonNullable: false });
await write('schema.ts', astToString(types));

async function write(name, source) {
  const formatted = await format(`${COMMENT_HEADER}${source}`, { ...config, parser: 'typescript' });
  writeFileSync(join(folder, name), formatted);
}

function routesOf({ paths }) {
  const routes = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => {
      const parameters = operation.parameters.map((parameter) => inPlace('parameters', parameter));
      const route = {
        method,
        path,
        takesBody: operation.requestBody !== undefined,
        takesQuery: parameters.some((parameter) => parameter.in === 'query'),
        paged: parameters.some(({ name }) => name === 'cursor'),
      };
      return `${operation.operationId}: ${JSON.stringify(route)}`;
    }),
  );
  return `/** Where each operation is, and what it takes. */\nexport const ROUTES = {${routes.join(',')}} as const;`;
}

/** A part of the document, or the shared one that it refers to. */
function inPlace(section, part) {
  return '$ref' in part ? document.components[section][part.$ref.split('/').at(-1)] : part;
}

function errorClassesOf(codes) {
  const names = codes.map((code) => [code, nameOf(code)]);
  const classes = names.map(
    ([code, name]) => `export class ${name} extends PetStoreError {
      declare readonly code: '${code}';
      override readonly name: string = '${name}';
    }`,
  );
  const entries = names.map(([code, name]) => `${code}: ${name}`);
  return `import { PetStoreError } from '../errors.ts';
    ${classes.join('\n')}
    /** By code. */
    export const ERROR_CLASSES = {${entries.join(',')}} as const;`;
}

/** `pet_not_found`: PetNotFoundError */
function nameOf(code) {
  const words = code.replace(/_error$/, '').split('_');
  return `${words.map((word) => `${word[0].toUpperCase()}${word.slice(1)}`).join('')}Error`;
}

/** Omits errors, which share the Error object, and header fields, which are read by name: the file would be four times as long. */
function keepWhatCallsNeed(responses) {
  for (const [status, part] of Object.entries(responses)) {
    const response = inPlace('responses', part);
    responses[status] = response;
    delete response.headers;
    for (const content of Object.values(response.content ?? {})) {
      delete content.example;
      delete content.examples;
    }
    if (!/^2/.test(status)) {
      delete responses[status];
    }
  }
}
