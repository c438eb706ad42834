import { STATUS_CODES } from 'node:http';
import type {
  HeaderObject,
  OpenAPIObject,
  OperationObject,
  ParameterObject,
  ReferenceObject,
  RequestBodyObject,
  ResponseObject,
  SchemaObject,
} from '@nestjs/swagger';
import { type ErrorDefinition, type Examples, type HeaderNote, NOTES, type Notes } from '#libs/http';
import {
  EVERY_RESPONSE,
  HEADERS,
  LIMITED,
  PARAMETERS,
  isNotStored,
  possibleErrors,
  schemas,
} from './shared-components';

type Components = NonNullable<OpenAPIObject['components']>;
type Responses = Record<string, ResponseObject>;

/** One operation while its notes are turned into parts of the OpenAPI document. */
interface Draft {
  operation: OperationObject;
  path: string;
  method: string;
  notes: Notes[];
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
const NOT_MODIFIED = 'Not modified: `If-None-Match` has the ETag that the resource still has, or is `*`.';

/**
 * Turns the notes of the decorators into responses, header fields and parameters of every operation in the OpenAPI document.
 */
export function completeDocument(document: OpenAPIObject): void {
  const components: Components = (document.components ??= {});
  components.schemas = { ...components.schemas, ...schemas() };
  components.examples = {};
  const drafts = draftsOf(document);
  const usual = usualCodes(drafts);
  for (const draft of drafts) {
    completeOperation(draft, components, usual);
  }
  components.headers = share('headers', drafts.flatMap(headersIn)) as Components['headers'];
  components.parameters = share('parameters', drafts.flatMap(parametersIn)) as Components['parameters'];
  components.responses = share('responses', drafts.flatMap(responsesIn)) as Components['responses'];
}

/** Every operation of the OpenAPI document with its notes, which are removed from it. */
function draftsOf(document: OpenAPIObject): Draft[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      if (!operation) {
        return [];
      }
      const extensions = operation as unknown as Record<string, Notes[] | undefined>;
      const notes = extensions[NOTES] ?? [];
      delete extensions[NOTES];
      return [{ operation, path, method, notes }];
    }),
  );
}

function completeOperation(draft: Draft, components: Components, usual: string[]): void {
  const { operation, method, notes } = draft;
  const parameters = notes
    .flatMap((note) => note.parameters ?? [])
    .filter((name) => name !== 'If-None-Match' || method === 'get');
  operation.parameters = [...(operation.parameters ?? []), ...parameters.map((name) => PARAMETERS[name]!)];
  completeBody(draft, components);
  const responses = operation.responses as Responses;
  for (const { content } of Object.values(responses)) {
    const json = content?.['application/json'];
    if (json && !json.examples) {
      json.example ??= exampleOf(json.schema!, components);
    }
  }
  if (method === 'get') {
    responses['304'] = { description: NOT_MODIFIED };
  }
  const errors = possibleErrors(draft);
  for (const error of errors) {
    const { code, example: message, status } = error;
    components.examples![nameOf(error)] = { value: { code, message, status } };
  }
  Object.assign(responses, errorResponses(errors, usual));
  completeHeaders(draft);
}

/** The errors that most operations have. Those of the operation come before them. */
function usualCodes(drafts: Draft[]): string[] {
  const uses = drafts.flatMap((draft) => [...new Set(possibleErrors(draft).map(({ code }) => code))]);
  return [...new Set(uses)].filter((code) => uses.filter((used) => used === code).length > drafts.length / 2);
}

type Schema = Omit<SchemaObject, 'example'> & Partial<ReferenceObject> & { example?: unknown };

function resolved(schema: Schema, { schemas: all = {} }: Components): Schema {
  return schema.$ref === undefined
    ? schema
    : (all[schema.$ref.replace('#/components/schemas/', '')] as Schema);
}

/** A value made of the examples of its fields, so that a new field is in all of them; fields without one are left out. */
function exampleOf(schema: Schema, components: Components, onlyRequired = false): unknown {
  const { type, items, example, properties = {}, required = [] } = resolved(schema, components);
  if (type === 'array' && example === undefined) {
    return [exampleOf(items as Schema, components)];
  }
  const fields = Object.entries(properties).filter(([name]) => !onlyRequired || required.includes(name));
  // As in responses, the id comes first.
  fields.sort(([a], [b]) => Number(b === 'id') - Number(a === 'id'));
  const values = fields.map(([name, field]) => [name, exampleOf(field as Schema, components)]);
  return example ?? (fields.length === 0 ? undefined : Object.fromEntries(values));
}

/** Those that the operation has of its own, between the shortest and the longest. */
function bodiesOf(schema: Schema, own: Examples, components: Components): Examples {
  const { properties = {}, required = [] } = resolved(schema, components);
  const fields = Object.keys(properties).length;
  const value = (onlyRequired: boolean) => exampleOf(schema, components, onlyRequired);
  const shortest = { required: { summary: 'Required fields only', value: value(true) } };
  const longest = { all: { summary: 'All fields', value: value(false) } };
  const hasShort = required.length > 0 && required.length < fields;
  return { ...(hasShort ? shortest : {}), ...own, ...(fields > 1 ? longest : {}) };
}

/** Adds examples to the body, and forbids additional members, which the service rejects. */
function completeBody({ operation, notes }: Draft, components: Components): void {
  const { content = {} } = (operation.requestBody ?? {}) as Partial<RequestBodyObject>;
  const json = content['application/json'];
  if (!json) {
    return;
  }
  const own = notes.find(({ bodies }) => bodies)?.bodies ?? {};
  json.examples = bodiesOf(json.schema!, own, components);
  resolved(json.schema!, components).additionalProperties = false;
}

/** One response per status, with the error bodies by code, the operation's own first. The last of several errors with a code applies. */
function errorResponses(errors: ErrorDefinition[], usual: string[]): Responses {
  const byCode = new Map(errors.map((error) => [error.code, error]));
  const sorted = [...byCode.values()].sort(
    (a, b) =>
      a.status - b.status ||
      Number(usual.includes(a.code)) - Number(usual.includes(b.code)) ||
      a.code.localeCompare(b.code),
  );
  const statuses = [...new Set(sorted.map(({ status }) => status))];
  return Object.fromEntries(
    statuses.map((status) => [status, errorResponse(sorted.filter((error) => error.status === status))]),
  );
}

function errorResponse(errors: ErrorDefinition[]): ResponseObject {
  const examples = errors.map((error) => [error.code, { $ref: `#/components/examples/${nameOf(error)}` }]);
  return {
    description: errors.map(({ code, when }) => `\`${code}\`: ${when}`).join('\n\n'),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        examples: Object.fromEntries(examples) as Record<string, ReferenceObject>,
      },
    },
    headers: headersOf(errors),
  };
}

/** The name of an error's example in the OpenAPI document. */
function nameOf({ code, variant }: ErrorDefinition): string {
  return variant === undefined ? code : `${code}.${variant}`;
}

/** Header fields sent with these errors. Where a text tells them apart, it has its values by code. */
function headersOf(errors: ErrorDefinition[]): Record<string, HeaderObject> {
  const headers: Record<string, HeaderObject> = {};
  for (const { code, exampleHeaders } of errors) {
    for (const [name, value] of Object.entries(exampleHeaders)) {
      const known = HEADERS[name]!;
      const { description, schema } = known;
      const required = errors.every((error) => name in error.exampleHeaders);
      const isText = typeof known.example === 'string';
      headers[name] ??= isText ? { description, required, schema, examples: {} } : { ...known, required };
      Object.assign(headers[name].examples ?? {}, { [code]: { value } });
    }
  }
  return headers;
}

/** Adds to each response the header fields that every response has, and those in the operation's notes. */
function completeHeaders({ operation, path, notes }: Draft): void {
  for (const [text, response] of Object.entries(operation.responses as Responses)) {
    const status = Number(text);
    const noted = notes.flatMap(({ headers: { success = [], kept = [], any = [] } = {} }) => [
      ...any,
      ...(status < 400 ? success : []),
      ...(isNotStored(status) ? [] : kept),
    ]);
    response.headers = {
      ...EVERY_RESPONSE,
      ...(status === 429 ? LIMITED : {}),
      ...response.headers,
      ...Object.fromEntries(noted.map((note) => headerOf(note, path))),
    };
  }
}

function headerOf(note: HeaderNote | string, path: string): [name: string, header: HeaderObject] {
  const { name, example, ...rest } = typeof note === 'string' ? { name: note } : note;
  const header = { ...HEADERS[name]!, ...rest };
  return [name, example === undefined ? header : { ...header, example: example.replaceAll('{path}', path) }];
}

/** A part of the OpenAPI document that others may have as well. */
interface Part {
  holder: Record<string, unknown>;
  key: string;
  /** Its name as a component, if it is the most common part of that name. */
  name: string;
  /** What to add to the name otherwise. */
  distinction: (commonest: object) => string;
}

/** Moves the parts that occur more than once to shared components, and refers to them. @returns the components by name */
function share(section: string, parts: Part[]): Record<string, object> {
  const uses = new Map<string, Part[]>();
  for (const part of parts) {
    const text = JSON.stringify(part.holder[part.key]);
    uses.set(text, [...(uses.get(text) ?? []), part]);
  }
  const shared: Record<string, object> = {};
  const repeated = [...uses].filter(([, { length }]) => length > 1);
  for (const [text, all] of repeated.sort(([, a], [, b]) => b.length - a.length)) {
    const { name, distinction } = all[0]!;
    const component = name in shared ? `${name}.${distinction(shared[name]!)}` : name;
    shared[component] = JSON.parse(text) as object;
    for (const { holder, key } of all) {
      holder[key] = { $ref: `#/components/${section}/${component}` };
    }
  }
  return shared;
}

function headersIn({ operation }: Draft): Part[] {
  return Object.entries(operation.responses as Responses).flatMap(([status, { headers }]) =>
    Object.keys(headers!).map((key) => {
      const holder = headers as Record<string, unknown>;
      return {
        holder,
        key,
        name: key,
        distinction: () => (key === 'Link' ? operation.operationId! : status),
      };
    }),
  );
}

function parametersIn({ operation }: Draft): Part[] {
  const parameters = operation.parameters as ParameterObject[];
  return parameters.map(({ name, in: where }, index) => {
    const holder = parameters as unknown as Record<string, unknown>;
    return { holder, key: String(index), name, distinction: () => where };
  });
}

function responsesIn({ operation }: Draft): Part[] {
  const responses = operation.responses as Responses;
  return Object.entries(responses).map(([key, response]) => ({
    holder: responses,
    key,
    name: responseName(Number(key), response),
    distinction: (commonest) => {
      const common = detailsOf(commonest);
      const details = detailsOf(response).filter((detail) => !common.includes(detail));
      return details.join('.') || operation.operationId!;
    },
  }));
}

/** `NotFound`, or `UpdatedPet` for "The updated pet." */
function responseName(status: number, { description }: ResponseObject): string {
  const name = status >= 300 ? STATUS_CODES[status]! : description.replace(/^The /, '');
  const words = name.match(/\w+/g)!;
  return words.map((word) => `${word[0]!.toUpperCase()}${word.slice(1)}`).join('');
}

/** The examples and the header fields of a response. */
function detailsOf({ content, headers }: Partial<ResponseObject>): string[] {
  const examples = Object.values(content?.['application/json']?.examples ?? {}) as ReferenceObject[];
  const named = examples.map(({ $ref }) => $ref.replace('#/components/examples/', ''));
  return [...named, ...Object.keys(headers ?? {})];
}
