import { STATUS_CODES } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import type {
  OpenAPIObject,
  OperationObject,
  ParameterObject,
  ReferenceObject,
  RequestBodyObject,
  ResponseObject,
  SchemaObject,
} from '@nestjs/swagger';
import { type ErrorDefinition, NOTES, type Notes, errorCatalogue } from '#libs/http';
import { KEPT_ERRORS } from '../../modules/writes';
import { EVERY_RESPONSE, HEADERS, REQUEST_HEADERS, schemas } from './components';

type NotedOperation = OperationObject & { [NOTES]?: Notes[] };
type Components = NonNullable<OpenAPIObject['components']>;
export type Responses = Record<string, ResponseObject | ReferenceObject>;
type Schemas = Record<string, SchemaObject>;

const NOT_MODIFIED = 'Not modified: `If-None-Match` has the current ETag of the resource, or is `*`.';

/**
 * Completes the document that @nestjs/swagger has generated. The document contains the notes that decorators have made
 * about each operation, in the property `NOTES` of the operation. This function replaces the notes by the parameters,
 * responses and headers that the notes name.
 */
export function completeDocument({ paths, components = {} }: OpenAPIObject): void {
  Object.assign(components, {
    schemas: { ...components.schemas, ...schemas() },
    headers: HEADERS,
    parameters: { ...REQUEST_HEADERS },
    responses: {},
  });
  for (const [method, part] of Object.values(paths).flatMap((item) => Object.entries(item))) {
    const operation = part as NotedOperation;
    completeRequest(operation, method, components);
    completeResponses(operation, method, components);
    delete operation[NOTES];
  }
  addTypes(components.schemas as Schemas);
}

function noted<Kind extends keyof Notes>(operation: NotedOperation, kind: Kind) {
  return operation[NOTES]!.flatMap((notes) => (notes[kind] ?? []) as NonNullable<Notes[Kind]>[number][]);
}

function completeRequest(operation: NotedOperation, method: string, components: Components): void {
  const shared = components.parameters!;
  // A parameter that several operations share becomes a component, and the operations refer to that component.
  const own = (operation.parameters as ParameterObject[]).map((parameter) => {
    const { name } = parameter;
    shared[name] ??= parameter;
    return isDeepStrictEqual(shared[name], parameter) ? reference('parameters', name) : parameter;
  });
  const isConditional = method === 'get' && noted(operation, 'successHeaders').includes('ETag');
  const names = [...noted(operation, 'requestHeaders'), ...(isConditional ? ['If-None-Match'] : [])];
  operation.parameters = [...own, ...names.map((name) => reference('parameters', name))];
  const json = (operation.requestBody as RequestBodyObject | undefined)?.content['application/json'];
  if (json) {
    const { $ref } = json.schema as ReferenceObject;
    (components.schemas as Schemas)[nameIn($ref)]!.additionalProperties = false;
    const examples = noted(operation, 'bodyExamples');
    Object.assign(json, examples.length > 0 && { examples: Object.fromEntries(examples) });
  }
}

/**
 * Adds error responses, the response 304 and headers to an operation. Equal responses of several operations become one
 * component, to which the operations refer.
 */
function completeResponses(operation: NotedOperation, method: string, components: Components): void {
  const ownHeaders = noted(operation, 'responseHeaders');
  const responses = operation.responses as Responses;
  const shared = components.responses as Responses;
  const respond = (status: number, name: string, response: ResponseObject): void => {
    if (ownHeaders.length > 0) {
      responses[status] = response;
    } else {
      shared[name] ??= response;
      responses[status] = reference('responses', name);
    }
  };
  for (const response of Object.values(responses) as ResponseObject[]) {
    response.headers = headerReferences([...noted(operation, 'successHeaders'), ...ownHeaders]);
  }
  if ('204' in responses) {
    respond(204, 'NoContent', responses['204'] as ResponseObject);
  }
  if (method === 'get') {
    const headers = headerReferences(['ETag', 'Link', ...ownHeaders]);
    respond(304, 'NotModified', { description: NOT_MODIFIED, headers });
  }
  const errors = possibleErrors(operation, method);
  for (const status of new Set(errors.map((error) => error.status))) {
    const group = errors.filter((error) => error.status === status);
    respond(status, nameOf(group), errorResponse(group, ownHeaders));
  }
}

/**
 * Returns the errors that an operation can return, in the order of their statuses. Four places decide:
 * - `Operation` lists the errors of the operation itself. For a page or a deprecated operation, it adds an error.
 * - Other decorators add errors with `Documented({ errors })`, for example `ScopeByMethod` and `SendsCommands`.
 * - `defineError` with `commonTo` adds the error to all operations, or to all operations other than GET.
 * - `Documented({ excludedErrors })`, for example of `CountedOnlyWithoutKey`, leaves errors out.
 */
function possibleErrors(operation: NotedOperation, method: string): ErrorDefinition[] {
  const excluded = noted(operation, 'excludedErrors').map(({ definition }) => definition);
  const others = errorCatalogue().filter(
    ({ commonTo }) => commonTo === 'all operations' || (commonTo === 'all writes' && method !== 'get'),
  );
  const all = [...noted(operation, 'errors').map(({ definition }) => definition), ...others];
  return [...new Set(all)].filter((error) => !excluded.includes(error)).sort((a, b) => a.status - b.status);
}

function errorResponse(errors: ErrorDefinition[], ownHeaders: readonly string[]): ResponseObject {
  const examples = errors.map(({ code, example: message, status }) => {
    return [code, { value: { code, message, status } }] as const;
  });
  const headers = errors.flatMap(({ exampleHeaders }) => Object.keys(exampleHeaders));
  const replayed = KEPT_ERRORS.includes(errors[0]!.status) ? ['Idempotent-Replayed'] : [];
  return {
    description: errors.map(({ code, when }) => `\`${code}\`: ${when}`).join('\n\n'),
    content: {
      'application/json': { schema: reference('schemas', 'Error'), examples: Object.fromEntries(examples) },
    },
    headers: headerReferences([...headers, ...ownHeaders, ...replayed]),
  };
}

/** Names the component of a response after its errors, for example `PetNotFound`. */
function nameOf(errors: ErrorDefinition[]): string {
  const own = errors.filter((error) => errors.length === 1 || error.commonTo !== 'all operations');
  const text = own.length === 0 ? STATUS_CODES[errors[0]!.status]! : own.map(({ code }) => code).join(' or ');
  return text.replace(/(?:^|[ _])(\w)/g, (_all, letter: string) => letter.toUpperCase());
}

function reference(section: keyof Components, name: string): ReferenceObject {
  return { $ref: `#/components/${section}/${name}` };
}

function headerReferences(names: string[]): Record<string, ReferenceObject> {
  return Object.fromEntries([...EVERY_RESPONSE, ...names].map((name) => [name, reference('headers', name)]));
}

export function nameIn($ref: string): string {
  return $ref.split('/').at(-1)!;
}

/**
 * Adds the property `type` to schemas, because Scalar, which shows the reference, needs this property. Also moves the
 * property `id` to the front of each schema.
 */
function addTypes(schemas: Schemas): void {
  for (const schema of Object.values(schemas)) {
    schema.type ??= 'object';
    const { id, ...others } = schema.properties ?? {};
    schema.properties = id === undefined ? schema.properties : { id, ...others };
    for (const property of Object.values(schema.properties ?? {}) as SchemaObject[]) {
      const [whole] = (property.allOf ?? []) as ReferenceObject[];
      property.type ??= whole && schemas[nameIn(whole.$ref)]!.type;
    }
  }
}
