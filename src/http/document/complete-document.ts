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

type Components = NonNullable<OpenAPIObject['components']>;

/** One operation while its notes are turned into parts of the OpenAPI document. */
interface Draft {
  operation: OperationObject;
  method: string;
  notes: Notes[];
  /** All that it can return; those of the operation come before those that nearly every operation has. */
  errors: ErrorDefinition[];
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
const NOT_MODIFIED = 'Not modified: `If-None-Match` has the ETag that the resource still has, or is `*`.';

/**
 * Turns the notes of the decorators into responses, header fields and parameters of every operation in the OpenAPI document.
 */
export function completeDocument(document: OpenAPIObject): void {
  const components: Components = (document.components ??= {});
  components.schemas = { ...components.schemas, ...schemas() };
  Object.assign(components, { examples: {}, headers: HEADERS, parameters: {}, responses: {} });
  const drafts = draftsOf(document);
  const usual = usualCodes(drafts);
  for (const draft of drafts) {
    completeRequest(draft, components);
    completeResponses(draft, components, usual);
  }
}

/** Every operation of the OpenAPI document with its notes, which are removed from it. */
function draftsOf(document: OpenAPIObject): Draft[] {
  return Object.values(document.paths).flatMap((item) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      if (!operation) {
        return [];
      }
      const extensions = operation as unknown as Record<string, Notes[] | undefined>;
      const notes = extensions[NOTES] ?? [];
      delete extensions[NOTES];
      return [{ operation, method, notes, errors: possibleErrors(method, notes) }];
    }),
  );
}

function possibleErrors(method: string, notes: Notes[]): ErrorDefinition[] {
  const noted = notes.flatMap(({ errors = [] }) => errors);
  const never = notes.flatMap((note) => note.never ?? []);
  const all = [...EVERY_OPERATION, ...(method === 'get' ? [] : BODY_ERRORS), ...noted];
  const possible = all.filter((error) => !never.includes(error)).map(({ definition }) => definition);
  return [...new Set(possible)].sort((a, b) => a.status - b.status || a.code.localeCompare(b.code));
}

/** The errors that nearly all operations have. */
function usualCodes(drafts: Draft[]): string[] {
  const uses = drafts.flatMap(({ errors }) => errors.map(({ code }) => code));
  return [...new Set(uses)].filter(
    (code) => uses.filter((used) => used === code).length > drafts.length * 0.9,
  );
}

/** Puts a part among the shared ones. @returns the reference to it, or the part itself if another one has the name */
function share<Part extends object>(
  components: Components,
  section: 'examples' | 'parameters' | 'responses',
  name: string,
  part: Part,
): Part | ReferenceObject {
  const known = ((components[section] as Record<string, object>)[name] ??= part);
  return isDeepStrictEqual(known, part) ? { $ref: `#/components/${section}/${name}` } : part;
}

/** Adds parameters and examples, and forbids additional members of the body, which the service rejects. */
function completeRequest({ operation, method, notes }: Draft, components: Components): void {
  const noted = notes
    .flatMap((note) => note.parameters ?? [])
    .filter((name) => name !== 'If-None-Match' || method === 'get')
    .map((name) => CONDITIONS[name] ?? idempotencyKeyOf(operation.operationId!));
  const parameters = [...(operation.parameters as ParameterObject[]), ...noted];
  operation.parameters = parameters.map((part) => share(components, 'parameters', part.name, part));
  const json = (operation.requestBody as RequestBodyObject | undefined)?.content['application/json'];
  if (json) {
    const { $ref } = json.schema as ReferenceObject;
    const schema = components.schemas![$ref.split('/').at(-1)!] as SchemaObject;
    schema.additionalProperties = false;
    const examples = notes.find(({ bodies }) => bodies)?.bodies;
    Object.assign(json, examples && { examples });
  }
}

/** Adds the errors, 304, and the header fields of every response. Only successes with a body are not shared. */
function completeResponses(
  { operation, method, notes, errors }: Draft,
  components: Components,
  usual: string[],
) {
  const responses = operation.responses as Record<string, ResponseObject | ReferenceObject>;
  const always = notes.flatMap(({ headers }) => headers?.always ?? []);
  const success = notes.flatMap(({ headers }) => headers?.success ?? []);
  for (const response of Object.values(responses) as ResponseObject[]) {
    response.headers = referencesTo([...success, ...always]);
  }
  if (method === 'get') {
    responses['304'] = { description: NOT_MODIFIED, headers: referencesTo(['ETag', 'Link', ...always]) };
  }
  const names: Record<string, string | undefined> = { 204: 'NoContent', 304: 'NotModified' };
  for (const status of new Set(errors.map((error) => error.status))) {
    const group = errors.filter((error) => error.status === status);
    const own = group.filter(({ code }) => !usual.includes(code));
    const sorted = [...own, ...group.filter((error) => !own.includes(error))];
    responses[status] = errorResponse(sorted, always, components);
    names[status] = errorName(sorted, own);
  }
  for (const [status, name] of Object.entries(names).filter((entry) => entry[0] in responses)) {
    const unique = pascalCase(`${operation.operationId} ${STATUS_CODES[status]}`);
    const shared = always.length > 0 || name === undefined ? unique : name;
    responses[status] = share(components, 'responses', shared, responses[status]!);
  }
}

function referencesTo(names: string[]): ResponseObject['headers'] {
  const all = [...EVERY_RESPONSE, ...names];
  return Object.fromEntries(all.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function errorResponse(errors: ErrorDefinition[], always: string[], components: Components): ResponseObject {
  const examples = errors.map(({ code, example: message, status }) => {
    return [code, share(components, 'examples', code, { value: { code, message, status } })];
  });
  const headers = errors.flatMap(({ exampleHeaders }) => Object.keys(exampleHeaders));
  return {
    description: errors.map(({ code, when }) => `\`${code}\`: ${when}`).join('\n\n'),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        examples: Object.fromEntries(examples) as Record<string, ReferenceObject>,
      },
    },
    headers: referencesTo([
      ...headers,
      ...always,
      ...(isStoredStatus(errors[0]!.status) ? ['Idempotent-Replayed'] : []),
    ]),
  };
}

const pascalCase = (text: string): string =>
  text.replace(/(?:^|[ _])(\w)/g, (_all, letter: string) => letter.toUpperCase());

/** `PetNotFound`, `Unauthorized`, `BadRequestOrInvalidCursor`; undefined if the response is one of the operation, such as `PlaceOrderConflict`. */
function errorName([first, ...others]: ErrorDefinition[], own: ErrorDefinition[]): string | undefined {
  const usual = pascalCase(STATUS_CODES[first!.status]!);
  if (others.length === 0) return pascalCase(first!.code);
  if (own.length > 1) return undefined;
  return own.length === 0 ? usual : `${usual}Or${pascalCase(own[0]!.code)}`;
}
