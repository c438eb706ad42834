import type { OpenAPIObject } from '@nestjs/swagger';

interface Content {
  schema?: Schema;
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}

/** The members of an operation that tests read. */
export interface Operation {
  operationId: string;
  tags: string[];
  deprecated?: boolean;
  parameters: { name: string; in: string; schema: Record<string, unknown>; example?: unknown }[];
  requestBody?: { content: Record<string, Content> };
  responses: Record<string, DocumentedResponse>;
}

export interface DocumentedResponse {
  description: string;
  headers?: Record<string, { required?: boolean }>;
  content?: Record<string, Content>;
}

/** The operations by `METHOD path`. Each reference to a shared part is replaced by that part, but references to schemas stay. */
export function operationsOf(document: OpenAPIObject): Map<string, Operation> {
  const shared = new Map<string, unknown>();
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item as object).map(([method, operation]) => {
      return [`${method.toUpperCase()} ${path}`, inPlace(document, operation, shared) as Operation] as const;
    }),
  );
  return new Map(operations);
}

/**
 * A copy of a part of the OpenAPI document in which each reference, except to a schema, is replaced by what it names.
 * @param shared the copies that were made so far, by their reference
 */
function inPlace(document: OpenAPIObject, part: unknown, shared: Map<string, unknown>): unknown {
  if (typeof part !== 'object' || part === null) return part;
  if (Array.isArray(part)) return part.map((item) => inPlace(document, item, shared));
  const { $ref } = part as { $ref?: string };
  if ($ref !== undefined && !$ref.startsWith('#/components/schemas/')) {
    if (!shared.has($ref)) shared.set($ref, inPlace(document, resolve(document, $ref), shared));
    return shared.get($ref);
  }
  const members = Object.entries(part).map(([key, value]) => [key, inPlace(document, value, shared)]);
  return Object.fromEntries(members);
}

/** The part of the document that a `#/…` reference names; undefined if there is none. */
function resolve(document: OpenAPIObject, reference: string): unknown {
  const names = reference.replace(/^#\//, '').split('/');
  return names.reduce<unknown>(
    (value, name) => (value as Record<string, unknown> | undefined)?.[name],
    document,
  );
}

export interface Schema {
  example?: unknown;
  $ref?: string;
  allOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
}

/** The schema, merged with the schemas that its `$ref` and `allOf` name. */
export function plain(document: OpenAPIObject, schema: Schema): Schema {
  const { $ref, allOf = [], ...own } = schema;
  const others = [...($ref === undefined ? [] : [resolve(document, $ref) as Schema]), ...allOf];
  return others.reduce<Schema>((all, other) => ({ ...plain(document, other), ...all }), own);
}

/** The first example of an operation's request body. */
export function bodyOf(document: OpenAPIObject, { requestBody }: Operation): object | undefined {
  const content = requestBody?.content['application/json'];
  return content && (Object.values(examplesIn(document, content))[0] as object);
}

/** All examples of a request body or an answer, by name. If it has none, the examples of its fields are put together, as tools do. */
export function examplesIn(document: OpenAPIObject, content: Content): Record<string, unknown> {
  const { schema = {}, example, examples } = content;
  return examples === undefined
    ? { only: example ?? exampleOf(document, schema) }
    : Object.fromEntries(Object.entries(examples).map(([name, { value }]) => [name, value]));
}

function exampleOf(document: OpenAPIObject, schema: Schema): unknown {
  const { example, items, properties } = plain(document, schema);
  if (example !== undefined || (!items && !properties)) return example;
  const fields = Object.entries(properties ?? {});
  return items
    ? [exampleOf(document, items)]
    : Object.fromEntries(fields.map(([name, field]) => [name, exampleOf(document, field)]));
}
