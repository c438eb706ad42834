// Writes src/generated/api.ts from the interface description (JSON on standard input): a type for each schema, the
// methods, and where their operations are. What the description says is what an editor shows.
import { text } from 'node:stream/consumers';
import { format, resolveConfig } from 'prettier';

/** Schemas with what an answer always has, beyond what the schema itself requires. */
const answered = [];
const { components, paths } = JSON.parse(await text(process.stdin), (_key, part) => {
  if (part?.allOf?.length === 2) answered.push(part.allOf);
  return part;
});
const { Error: errorBody, ...schemas } = components.schemas;

for (const [{ $ref }, { required }] of answered) {
  const schema = inPlace('schemas', { $ref });
  schema.required = [...new Set([...(schema.required ?? []), ...required])];
}

const enumNames = new Map(Object.entries(schemas).map(([name, schema]) => [String(schema.enum), name]));
const methods = Object.entries(paths)
  .flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => describe(method.toUpperCase(), path, operation)),
  )
  // `store.events()` reads the feed.
  .filter(({ id }) => id !== 'listEvents');

const source = [
  '// Generated from the interface description by `npm run generate`.',
  `import type { ApiPromise, CallOptions, ConditionalOptions, List } from '../results.ts';`,
  ...Object.entries(schemas).map(([name, schema]) => declarationOf(name, schema)),
  `/** The error codes of the service. A newer service may have more. */
  export type ServiceErrorCode = ${typeOf(errorBody.properties.code)};`,
  ...methods.filter(({ query }) => query.length > 0).map(queryOf),
  `export interface Resources { ${byResource(signaturesOf, ';')} }`,
  `/** Where the operations are, and what they take after the values of the path. */
  export const OPERATIONS = { ${byResource(routeOf, ',')} } as const;`,
].join('\n\n');
const style = await resolveConfig(import.meta.filename);
process.stdout.write(await format(source, { ...style, parser: 'typescript' }));

function byResource(render, end) {
  const names = new Set(methods.map(({ resource }) => resource));
  return [...names]
    .map(
      (name) =>
        `${name}: { ${methods
          .filter(({ resource }) => resource === name)
          .map(render)
          .join('\n')} }${end}`,
    )
    .join('\n');
}

/** What the declarations of a method are made of. */
function describe(method, path, operation) {
  const parameters = operation.parameters.map((parameter) => inPlace('parameters', parameter));
  const [, success] = Object.entries(operation.responses).find(([status]) => status.startsWith('2'));
  const { content } = inPlace('responses', success);
  const { operationId: id, requestBody: body } = operation;
  const query = parameters.filter((parameter) => parameter.in === 'query');
  return {
    ...operation,
    ...nameOf(path, id),
    id,
    method,
    path,
    inPath: parameters.filter((parameter) => parameter.in === 'path'),
    query,
    isConditional: parameters.some(({ name }) => name === 'If-None-Match'),
    isPaged: query.some(({ name }) => name === 'cursor'),
    body: body && `body${body.required ? '' : '?'}: ${contentOf(body.content)}`,
    result: content ? contentOf(content) : 'undefined',
  };
}

/** `listPets` is `pets.list`, `rotateWebhookSecret` `webhooks.rotateSecret`, and what has no resource `account`. */
function nameOf(path, id) {
  const [resource] = /(?<=^(\/store)?\/)(pets|categories|orders|inventory|webhooks)\b/.exec(path) ?? [
    'account',
  ];
  const verb = id
    .replace(/Pets?|Categor(y|ies)|Orders?|Inventory|Webhooks?|Delivery/, '')
    .replace(/^(get|list)(?=[A-Z])/, '');
  return { resource, verb: `${verb[0].toLowerCase()}${verb.slice(1)}` };
}

/** A part of the document, or the shared one that it refers to. */
function inPlace(section, part) {
  return part.$ref ? components[section][part.$ref.split('/').at(-1)] : part;
}

/** The type of a body; a shared array (Pets) as what it consists of. */
function contentOf({ 'application/json': { schema } }) {
  const shared = inPlace('schemas', schema);
  return typeOf(shared.type === 'array' ? shared : schema);
}

function typeOf(schema) {
  const { $ref, allOf, oneOf, enum: values, type, items, nullable } = schema;
  if (nullable) return `${typeOf({ ...schema, nullable: false })} | null`;
  if ($ref) return $ref.split('/').at(-1);
  if (allOf) return typeOf(allOf[0]);
  if (oneOf) return oneOf.map(typeOf).join(' | ');
  if (values) return enumNames.get(String(values)) ?? literals(values);
  if (type === 'array') return `(${typeOf(items)})[]`;
  if (type === 'object') return `{ ${fieldsOf(schema)} }`;
  if (type === 'integer') return 'number';
  if (type === 'string' || type === 'boolean') return type;
  throw new Error(`libs/client/scripts/generate.mjs knows no type for ${JSON.stringify(schema)}.`);
}

function literals(values) {
  return values.map((value) => `'${value}'`).join(' | ');
}

function declarationOf(name, schema) {
  const declared =
    schema.type === 'object'
      ? `interface ${name} ${typeOf(schema)}`
      : `type ${name} = ${schema.enum ? literals(schema.enum) : typeOf(schema)};`;
  return `${comment(schema.description)}export ${declared}`;
}

function fieldsOf({ properties, required = [] }) {
  return Object.entries(properties)
    .map(([name, schema]) => fieldOf(name, schema, required.includes(name)))
    .join('\n');
}

function fieldOf(name, schema, isRequired) {
  const tags = { default: isRequired ? undefined : schema.default, example: schema.example };
  return `${comment(schema.description, tags)}${name}${isRequired ? '' : '?'}: ${typeOf(schema)};`;
}

function queryOf({ id, query }) {
  const fields = query.map(({ name, description, schema }) =>
    fieldOf(name, { ...schema, description }, false),
  );
  return `export interface ${queryNameOf(id)} { ${fields.join('\n')} }`;
}

/** `listPets`: ListPetsQuery */
function queryNameOf(id) {
  return `${id[0].toUpperCase()}${id.slice(1)}Query`;
}

function signaturesOf(method) {
  const { id, verb, summary, description, deprecated, inPath, query, body, isConditional, isPaged, result } =
    method;
  const about = comment(
    `${summary}.${deprecated ? '' : ` ${description}`}\n\n\`${method.method} ${method.path}\``,
    {
      ...Object.fromEntries(inPath.map((parameter) => [`param ${parameter.name}`, parameter.description])),
      deprecated: deprecated ? successorIn(method) : undefined,
    },
  );
  const path = inPath.map(({ name, schema }) => `${name}: ${typeOf(schema)}`);
  const input = body ?? (query.length > 0 ? `query?: ${queryNameOf(id)}` : undefined);
  const given = (...rest) => [...path, ...rest].filter(Boolean).join(', ');
  const returned = isPaged ? `List<${result.replace(/^\(|\)\[\]$/g, '')}>` : `ApiPromise<${result}>`;
  const signature = `${about}${verb}(${given(input, 'options?: CallOptions')}): ${returned};`;
  const conditional = given(input?.replace('?', ''), 'options: ConditionalOptions');
  return isConditional
    ? `${signature}\n${about}${verb}(${conditional}): ApiPromise<${result} | undefined>;`
    : signature;
}

/** What the description says, with the successor (`GET /pets?id={petId}`) as it is called with the client. */
function successorIn({ description, 'x-deprecated-sunset': sunset }) {
  const text = description
    .replace(/^Deprecated. /, '')
    .replace(/`(\w+) ([^?`]+)\?(\w+)=\{(\w+)\}`/, (_all, method, path, field, value) => {
      const { resource, verb } = methods.find((one) => one.path === path && one.method === method);
      return `\`store.${resource}.${verb}({ ${field}: [${value}] })\``;
    });
  return `${text} It may be gone from ${sunset}.`;
}

function routeOf({ verb, method, path, isPaged, body, query }) {
  const takes = body ? 'body' : query.length > 0 ? 'query' : undefined;
  return `${verb}: ${JSON.stringify({ method, path, takes, isPaged })},`;
}

function comment(description, tags = {}) {
  const given = Object.entries(tags).filter(([, value]) => value !== undefined);
  const lines = given.map(
    ([name, value]) => `@${name} ${typeof value === 'object' ? JSON.stringify(value) : value}`,
  );
  return `/**\n${[description, ...lines].join('\n').replace(/^/gm, ' * ')}\n */\n`;
}
