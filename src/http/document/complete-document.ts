import type {
  HeaderObject,
  OpenAPIObject,
  OperationObject,
  ReferenceObject,
  RequestBodyObject,
  ResponseObject,
  SchemaObject,
} from '@nestjs/swagger';
import { type ErrorDefinition, type HeaderNote, NOTES, type OperationNotes, noNotes } from '#libs/http';
import { EVERY_RESPONSE, HEADERS, LIMITED } from './header-fields';
import { PARAMETERS, SHARED_RESPONSES, isNotStored, possibleErrors, schemas } from './shared-parts';

type Components = NonNullable<OpenAPIObject['components']>;
type Responses = Record<string, ResponseObject>;

/** One operation while its notes are turned into parts of the document. */
interface Draft {
  operation: OperationObject;
  path: string;
  method: string;
  notes: OperationNotes;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
const NOT_MODIFIED = 'Not modified: the resource still has the ETag sent in `If-None-Match`.';
const MERGE_PATCH = 'application/merge-patch+json';
/** Some requests with these statuses could not be read, so the service did not know the operation. */
const UNREADABLE = new Set([400, 408, 431]);

/**
 * Turns the notes of the decorators into responses, header fields and parameters of every operation in the document.
 */
export function completeDocument(document: OpenAPIObject): void {
  const components: Components = (document.components ??= {});
  components.schemas = { ...components.schemas, ...schemas() };
  components.headers = {};
  components.parameters = PARAMETERS;
  const drafts = draftsOf(document);
  for (const draft of drafts) {
    completeOperation(draft, components);
  }
  components.responses = shareResponses(drafts.map(({ operation }) => operation.responses as Responses));
}

/** Every operation of the document with its notes, which are removed from the document. */
function draftsOf(document: OpenAPIObject): Draft[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      if (!operation) {
        return [];
      }
      const extensions = operation as unknown as Record<string, Partial<OperationNotes> | undefined>;
      const notes = { ...noNotes(), ...extensions[NOTES] };
      delete extensions[NOTES];
      return [{ operation, path, method, notes }];
    }),
  );
}

function completeOperation(draft: Draft, components: Components): void {
  const { operation, method, notes } = draft;
  const parameters = notes.parameters.filter(({ onlyFor }) => onlyFor?.includes(method) ?? true);
  operation.parameters = [
    ...(operation.parameters ?? []),
    ...parameters.map(({ name }) => ({ $ref: `#/components/parameters/${name}` })),
  ];
  completeBody(draft, components);
  const responses = operation.responses as Responses;
  if (parameters.some(({ name }) => name === 'If-None-Match')) {
    responses['304'] = { description: NOT_MODIFIED };
  }
  Object.assign(responses, errorResponses(possibleErrors(method, notes)));
  completeHeaders(draft, components.headers!);
}

/** Adds examples and further media types to the body, and forbids additional members, which the service rejects. */
function completeBody({ operation, method, notes }: Draft, components: Components): void {
  const { content = {} } = (operation.requestBody ?? {}) as Partial<RequestBodyObject>;
  const json = content['application/json'];
  if (!json) {
    return;
  }
  if (Object.keys(notes.bodies).length > 0) {
    json.examples = notes.bodies;
  }
  const { $ref } = json.schema as { $ref?: string };
  const schema = $ref && components.schemas?.[$ref.replace('#/components/schemas/', '')];
  if (schema) {
    (schema as SchemaObject).additionalProperties = false;
  }
  if (method === 'patch') {
    content[MERGE_PATCH] = json;
  }
}

/** One response per status; its examples are the error bodies by code. The last of several errors with a code applies. */
function errorResponses(errors: ErrorDefinition[]): Responses {
  const byCode = new Map(errors.map((error) => [error.code, error]));
  const sorted = [...byCode.values()].sort((a, b) => a.status - b.status || a.code.localeCompare(b.code));
  const statuses = [...new Set(sorted.map(({ status }) => status))];
  return Object.fromEntries(
    statuses.map((status) => [status, errorResponse(sorted.filter((error) => error.status === status))]),
  );
}

function errorResponse(errors: ErrorDefinition[]): ResponseObject {
  const examples = errors.map(({ code, example: message, status }) => {
    return [code, { value: { code, message, status } }] as const;
  });
  return {
    description: errors.map(({ code, when }) => `\`${code}\`: ${when}`).join('\n\n'),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        examples: Object.fromEntries(examples),
      },
    },
    headers: headersOf(errors),
  };
}

/** Header fields sent with these errors, each with its values by code. */
function headersOf(errors: ErrorDefinition[]): Record<string, HeaderObject> {
  const headers: Record<string, HeaderObject> = {};
  for (const error of errors) {
    for (const [name, text] of Object.entries(error.exampleHeaders)) {
      const { description, schema } = HEADERS[name]!;
      const header = (headers[name] ??= { description, schema, examples: {} });
      const value = (schema as { type?: string }).type === 'integer' ? Number(text) : text;
      Object.assign(header.examples as object, { [error.code]: { value } });
    }
  }
  return headers;
}

/**
 * Adds to each response the header fields that every response has, and those in the operation's notes. A value specific
 * to the operation gets its own component, `<operationId>.<name>`.
 */
function completeHeaders({ operation, path, notes }: Draft, shared: Components['headers'] & object): void {
  const headerOf = ({ name, example, description }: HeaderNote): HeaderObject => ({
    ...HEADERS[name]!,
    ...(description === undefined ? {} : { description }),
    ...(example === undefined ? {} : { example: example.replaceAll('{path}', path) }),
  });
  const refer = (note: HeaderNote): ReferenceObject => {
    const isCommon = note.example === undefined && note.description === undefined;
    const component = isCommon ? note.name : `${operation.operationId}.${note.name}`;
    shared[component] = headerOf(note);
    return { $ref: `#/components/headers/${component}` };
  };
  for (const [text, response] of Object.entries(operation.responses as Responses)) {
    const status = Number(text);
    const noted = notes.headers.filter(
      ({ on }) => on === 'readable' || status < 400 || (on === 'kept' && !isNotStored(status)),
    );
    response.headers = {
      ...Object.fromEntries(EVERY_RESPONSE.map((name) => [name, refer({ name })])),
      ...(status === 429 ? LIMITED : {}),
      ...response.headers,
      ...Object.fromEntries(
        noted.map((note) => {
          const isOptional = note.on === 'readable' && UNREADABLE.has(status);
          return [note.name, isOptional ? optional(headerOf(note)) : refer(note)];
        }),
      ),
    };
  }
}

/** Some of the requests with such a status never became a call of the operation. */
function optional(header: HeaderObject): HeaderObject {
  return { ...header, description: `${header.description} Absent if the request could not be read.` };
}

/**
 * Moves the most common response for each status to a shared component. Operations with a different response keep it.
 * @param operations the responses of each operation, modified in place
 */
function shareResponses(operations: Record<string, ResponseObject | ReferenceObject>[]): Responses {
  const shared: Responses = {};
  for (const [status, name] of Object.entries(SHARED_RESPONSES)) {
    const counts = new Map<string, number>();
    for (const responses of operations.filter((operation) => status in operation)) {
      const text = JSON.stringify(responses[status]);
      counts.set(text, (counts.get(text) ?? 0) + 1);
    }
    const [[commonest]] = [...counts].sort(([, a], [, b]) => b - a) as [[string, number]];
    shared[name] = JSON.parse(commonest) as ResponseObject;
    for (const responses of operations) {
      if (JSON.stringify(responses[status]) === commonest) {
        responses[status] = { $ref: `#/components/responses/${name}` };
      }
    }
  }
  return shared;
}
