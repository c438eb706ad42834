import type { OpenAPIObject } from '@nestjs/swagger';

interface Content {
  schema?: Schema;
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}

/** As far as tests read it. */
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

/** Operations by `METHOD path`, with the shared parts that they refer to in place. Schemas stay references. */
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
 * A copy of a part of the OpenAPI document, without references except to schemas.
 * @param shared the copies made so far, by their reference
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

/** What a `#/…` reference points to; undefined when it points to nothing. */
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

/** The schema with what it refers to in place of the reference. */
export function plain(document: OpenAPIObject, schema: Schema): Schema {
  const { $ref, allOf = [], ...own } = schema;
  const others = [...($ref === undefined ? [] : [resolve(document, $ref) as Schema]), ...allOf];
  return others.reduce<Schema>((all, other) => ({ ...plain(document, other), ...all }), own);
}

/** The first example of an operation's body, or what a tool makes of the examples of its fields. */
export function bodyOf(document: OpenAPIObject, { requestBody }: Operation): object | undefined {
  const content = requestBody?.content['application/json'];
  return content && (Object.values(examplesIn(document, content))[0] as object);
}

/** All examples by name: those of a body or an answer, or the one that a tool makes of the examples of its fields. */
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
