import { STATUS_CODES } from 'node:http';
import type {
  OpenAPIObject,
  OperationObject,
  ParameterObject,
  ReferenceObject,
  RequestBodyObject,
  ResponseObject,
  SchemaObject,
} from '@nestjs/swagger';
import { type ErrorDefinition, NOTES, type Notes } from '#libs/http';
import {
  BODY_ERRORS,
  CONDITIONS,
  EVERY_OPERATION,
  EVERY_RESPONSE,
  HEADERS,
  idempotencyKeyOf,
  isStoredStatus,
  schemas,
} from './shared-components';

type NotedOperation = OperationObject & { [NOTES]?: Notes };
type Components = NonNullable<OpenAPIObject['components']>;
type Responses = Record<string, ResponseObject | ReferenceObject>;
type Schemas = Record<string, SchemaObject>;

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
const NOT_MODIFIED = 'Not modified: `If-None-Match` has the ETag that the resource still has, or is `*`.';

/** Turns the notes of the decorators into parameters, responses and header fields of every operation. */
export function completeDocument({ paths, components = {} }: OpenAPIObject): void {
  Object.assign(components, {
    schemas: { ...components.schemas, ...schemas() },
    examples: {},
    headers: HEADERS,
    parameters: CONDITIONS,
    responses: {},
  });
  for (const item of Object.values(paths)) {
    for (const method of METHODS) {
      const operation = item[method] as NotedOperation | undefined;
      if (operation) {
        completeRequest(operation, method, components);
        completeResponses(operation, method, components);
        delete operation[NOTES];
      }
    }
  }
  addTypes(components.schemas as Schemas);
}

/** Adds parameters and examples, and forbids additional members of the body, which the service rejects. */
function completeRequest(operation: NotedOperation, method: string, components: Components): void {
  const { parameters = [], bodies = [], success = [] } = operation[NOTES]!;
  const isConditional = method === 'get' && success.includes('ETag');
  const noted = [...parameters, ...(isConditional ? ['If-None-Match'] : [])].map((name) =>
    name === 'Idempotency-Key' ? idempotencyKeyOf(operation.operationId!) : reference('parameters', name),
  );
  operation.parameters = [...(operation.parameters as ParameterObject[]), ...noted];
  const json = (operation.requestBody as RequestBodyObject | undefined)?.content['application/json'];
  if (json) {
    const { $ref } = json.schema as ReferenceObject;
    (components.schemas as Schemas)[nameIn($ref)]!.additionalProperties = false;
    Object.assign(json, bodies.length > 0 && { examples: Object.fromEntries(bodies) });
  }
}

/** Adds the errors, 304, and the header fields of every response. Operations share all but what only they have. */
function completeResponses(operation: NotedOperation, method: string, components: Components): void {
  const { success = [], always = [] } = operation[NOTES]!;
  const responses = operation.responses as Responses;
  const shared = components.responses as Responses;
  const respond = (status: number, name: string, response: ResponseObject): void => {
    if (always.length > 0) {
      responses[status] = response;
    } else {
      shared[name] ??= response;
      responses[status] = reference('responses', name);
    }
  };
  for (const response of Object.values(responses) as ResponseObject[]) {
    response.headers = headerReferences([...success, ...always]);
  }
  if ('204' in responses) {
    respond(204, 'NoContent', responses['204'] as ResponseObject);
  }
  if (method === 'get') {
    const headers = headerReferences(['ETag', 'Link', ...always]);
    respond(304, 'NotModified', { description: NOT_MODIFIED, headers });
  }
  const errors = possibleErrors(operation[NOTES]!, method);
  for (const status of new Set(errors.map((error) => error.status))) {
    const group = errors.filter((error) => error.status === status);
    respond(status, nameOf(group), errorResponse(group, always, components));
  }
}

/** The errors that an operation can return, its own before those that every one has. */
function possibleErrors({ errors = [], never = [] }: Notes, method: string): ErrorDefinition[] {
  const all = [...errors, ...(method === 'get' ? [] : BODY_ERRORS), ...EVERY_OPERATION];
  const possible = all.filter((error) => !never.includes(error)).map(({ definition }) => definition);
  return [...new Set(possible)].sort((a, b) => a.status - b.status);
}

function errorResponse(
  errors: ErrorDefinition[],
  always: readonly string[],
  components: Components,
): ResponseObject {
  for (const { code, example: message, status } of errors) {
    components.examples![code] = { value: { code, message, status } };
  }
  const headers = errors.flatMap(({ exampleHeaders }) => Object.keys(exampleHeaders));
  const replayed = isStoredStatus(errors[0]!.status) ? ['Idempotent-Replayed'] : [];
  return {
    description: errors.map(({ code, when }) => `\`${code}\`: ${when}`).join('\n\n'),
    content: {
      'application/json': {
        schema: reference('schemas', 'Error'),
        examples: Object.fromEntries(errors.map(({ code }) => [code, reference('examples', code)])),
      },
    },
    headers: headerReferences([...headers, ...always, ...replayed]),
  };
}

/** `PetNotFound`, `InvalidCursor`; `BadRequest` if these are errors of every operation. */
function nameOf(errors: ErrorDefinition[]): string {
  const everywhere = EVERY_OPERATION.map(({ definition }) => definition);
  const own = errors.filter((error) => errors.length === 1 || !everywhere.includes(error));
  const text = own.length === 0 ? STATUS_CODES[errors[0]!.status]! : own.map(({ code }) => code).join(' or ');
  return text.replace(/(?:^|[ _])(\w)/g, (_all, letter: string) => letter.toUpperCase());
}

function reference(section: keyof Components, name: string): ReferenceObject {
  return { $ref: `#/components/${section}/${name}` };
}

function headerReferences(names: string[]): Record<string, ReferenceObject> {
  return Object.fromEntries([...EVERY_RESPONSE, ...names].map((name) => [name, reference('headers', name)]));
}

function nameIn($ref: string): string {
  return $ref.split('/').at(-1)!;
}

/** Scalar needs the type beside `allOf` and `oneOf`. */
function addTypes(schemas: Schemas): void {
  for (const schema of Object.values(schemas)) {
    schema.type ??= 'object';
    for (const property of Object.values(schema.properties ?? {}) as SchemaObject[]) {
      const [whole] = (property.allOf ?? []) as ReferenceObject[];
      property.type ??= whole && schemas[nameIn(whole.$ref)]!.type;
    }
  }
}
