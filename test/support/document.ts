import type { OpenAPIObject } from '@nestjs/swagger';

interface Content {
  schema?: unknown;
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}

export interface Header {
  description: string;
  schema: Record<string, unknown>;
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}

export interface Response {
  description: string;
  headers?: Record<string, Header | { $ref: string }>;
  content?: Record<string, Content>;
}

export interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema: Record<string, unknown>;
  example?: unknown;
}

export interface Operation {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  deprecated?: boolean;
  security: Record<string, string[]>[];
  parameters: (Parameter | { $ref: string })[];
  requestBody?: { required?: boolean; content: Record<string, Content> };
  responses: Record<string, Response>;
}

/** Operations by `METHOD path`, with the responses that they share in place. */
export function operationsOf(document: OpenAPIObject): Map<string, Operation> {
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item as Record<string, Operation>).map(([method, operation]) => {
      const responses = Object.entries(operation.responses as Record<string, Response | { $ref: string }>);
      const inPlace = responses.map(([status, response]) => {
        return [status, '$ref' in response ? resolve(document, response.$ref) : response] as const;
      });
      const complete = { ...operation, responses: Object.fromEntries(inPlace) as Operation['responses'] };
      return [`${method.toUpperCase()} ${path}`, complete] as const;
    }),
  );
  return new Map(operations);
}

/** What a `#/…` reference points to; undefined when it points to nothing. */
export function resolve(document: OpenAPIObject, reference: string): unknown {
  const names = reference.replace(/^#\//, '').split('/');
  return names.reduce<unknown>(
    (value, name) => (value as Record<string, unknown> | undefined)?.[name],
    document,
  );
}

export function parametersOf(document: OpenAPIObject, operation: Operation): Parameter[] {
  return operation.parameters.map((parameter) =>
    '$ref' in parameter ? (resolve(document, parameter.$ref) as Parameter) : parameter,
  );
}

export function sortedKeys(object: object | undefined): string[] {
  return Object.keys(object ?? {}).sort();
}

/** Visits every object of the document. A field named `example` is a schema's own only below `properties`. */
export function walk(
  value: unknown,
  name: string,
  visit: (name: string, value: Record<string, unknown>) => void,
): void {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) visit(name, value as Record<string, unknown>);
  for (const [key, inner] of Object.entries(value)) {
    if (key !== 'example' && key !== 'examples') walk(inner, `${name}/${key}`, visit);
  }
}
