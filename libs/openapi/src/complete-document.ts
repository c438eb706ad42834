import type { OpenAPIObject } from '@nestjs/swagger';
import type {
  HeaderObject,
  OperationObject,
  ParameterObject,
  ReferenceObject,
  RequestBodyObject,
  ResponseObject,
  SchemaObject,
} from '@nestjs/swagger';
import { errorCatalogue, type ErrorDefinition } from '#libs/errors';
import { NOTES, type OperationNotes } from './operation-notes';

export interface SharedParts {
  /** Header fields by name, for `components.headers`. */
  headers: Record<string, HeaderObject>;
  /** Parameters by name, for `components.parameters`. */
  parameters: Record<string, ParameterObject>;
  schemas: Record<string, SchemaObject>;
  /** Header fields that every answer of every operation carries. */
  everyAnswer: string[];
  /** Codes of errors that every operation can answer. */
  everyOperation: string[];
  /** Further codes by HTTP method, such as those about a body. */
  byMethod: Record<string, string[]>;
  /** Media types by HTTP method that a body may have beside JSON. */
  bodyTypes: Record<string, string[]>;
  /** Header fields that belong to a status, such as `Retry-After` to 429. */
  byStatus: Record<number, string[]>;
  /** Statuses that an Idempotency-Key does not keep. */
  notKept: (status: number) => boolean;
}

type Document = OpenAPIObject & { components: NonNullable<OpenAPIObject['components']> };

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
const DESCRIPTIONS: Record<number, string> = {
  304: 'Not modified: the ETag sent in `If-None-Match` still holds.',
};

/** Turns the notes of the decorators into responses, header fields and parameters, on every operation of the document. */
export function completeDocument(document: OpenAPIObject, parts: SharedParts): void {
  const { components } = document as Document;
  components.schemas = { ...components.schemas, ...parts.schemas };
  components.headers = parts.headers;
  components.parameters = parts.parameters;
  for (const path of Object.values(document.paths)) {
    for (const method of METHODS) {
      const operation = path[method];
      if (operation) {
        completeOperation(operation, method, parts);
      }
    }
  }
}

function completeOperation(operation: OperationObject, method: string, parts: SharedParts): void {
  const extensions = operation as unknown as Record<string, OperationNotes | undefined>;
  const notes = extensions[NOTES] ?? { errors: [], never: [], headers: [], parameters: [] };
  delete extensions[NOTES];
  const parameters = notes.parameters.filter(({ onlyFor }) => onlyFor?.includes(method) ?? true);
  operation.parameters = [
    ...(operation.parameters ?? []),
    ...parameters.map(({ name }) => ({ $ref: `#/components/parameters/${name}` })),
  ];
  completeBody(operation, parts.bodyTypes[method] ?? []);
  const responses = operation.responses as Record<string, ResponseObject>;
  if (parameters.some(({ name }) => name === 'If-None-Match')) {
    responses['304'] = { description: DESCRIPTIONS[304]! };
  }
  const codes = new Set([...parts.everyOperation, ...(parts.byMethod[method] ?? []), ...notes.errors]);
  for (const code of notes.never) {
    codes.delete(code);
  }
  Object.assign(responses, errorResponses(codes));
  for (const [status, response] of Object.entries(responses)) {
    response.headers = headersOf(Number(status), notes, parts);
  }
}

function completeBody({ requestBody }: OperationObject, types: string[]): void {
  const { content = {} } = (requestBody ?? {}) as Partial<RequestBodyObject>;
  for (const type of types) {
    content[type] = content['application/json']!;
  }
}

/** One response a status; its examples are the error bodies, by code. */
function errorResponses(codes: Set<string>): Record<string, ResponseObject> {
  const byStatus = new Map<number, ErrorDefinition[]>();
  for (const definition of errorCatalogue().filter(({ code }) => codes.delete(code))) {
    byStatus.set(definition.status, [...(byStatus.get(definition.status) ?? []), definition]);
  }
  if (codes.size > 0) {
    throw new Error(`The document names error codes that no code defines: ${[...codes].join(', ')}.`);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, definitions]) => [status, errorResponse(definitions)]),
  );
}

function errorResponse(definitions: ErrorDefinition[]): ResponseObject {
  const examples = definitions.map(({ code, example, status }) => {
    return [code, { value: { code, message: example, status } }] as const;
  });
  return {
    description: definitions.map(({ code, when }) => `\`${code}\`: ${when}`).join('\n\n'),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        examples: Object.fromEntries(examples),
      },
    },
  };
}

function headersOf(
  status: number,
  notes: OperationNotes,
  parts: SharedParts,
): Record<string, ReferenceObject> {
  const success = status < 400;
  const kept = !parts.notKept(status);
  const noted = notes.headers.filter(({ on }) => on === 'every' || (on === 'kept' ? kept : success));
  const names = [...parts.everyAnswer, ...(parts.byStatus[status] ?? []), ...noted.map(({ name }) => name)];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
