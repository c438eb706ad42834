import { STATUS_CODES } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import type { INestApplication } from '@nestjs/common';
import {
  DocumentBuilder,
  type OpenAPIObject,
  type OperationObject,
  type ParameterObject,
  type ReferenceObject,
  type RequestBodyObject,
  type ResponseObject,
  type SchemaObject,
  SwaggerModule,
} from '@nestjs/swagger';
import { type ErrorDefinition, NOTES, type Notes, definedTags, errorCatalogue } from '#libs/http';
import { API_KEY_SCHEME, BEARER_SCHEME } from '../../modules/auth';
import { KEPT_ERRORS } from '../../modules/idempotency';
import { PLAN_LIMITS } from '../../modules/quotas';
import { type GuideName, INDEX_PATH, guidePath } from './guides';
import { EVERY_RESPONSE, HEADERS, REQUEST_HEADERS, schemas } from './components';
import { ADDRESS_PLACEHOLDER } from './served-content';

/** Returns the API's description. Links to guides are absolute, so that they work in a copy of the document, too. */
function description(): string {
  const to = (name: GuideName) => ADDRESS_PLACEHOLDER + guidePath(name);
  const plans = Object.entries(PLAN_LIMITS).map(([plan, limits]) => {
    const counts = [limits?.perMinute, limits?.perDay].map(
      (count) => count?.toLocaleString('en-US') ?? 'set per client',
    );
    return `| ${[plan, ...counts].join(' | ')} |`;
  });
  return `Pets, the categories they belong to, orders and stock. [Getting started](${to('getting-started')}) takes five minutes.
Send your API key as \`X-API-Key\` or \`Authorization: Bearer\`. [Limits](${to('limits')}), [errors](${to('errors')}) and
[safe retries](${to('idempotency')}) work alike for every operation. Unknown paths return 404 \`route_not_found\`,
unsupported methods 405 \`method_not_allowed\`. HEAD works wherever GET does.

| Plan | Requests per minute | Requests per day (UTC) |
| --- | --- | --- |
${plans.join('\n')}

All keys of a client share its limits. Without a valid key, each IP address has 60 requests a minute. Requests that get 429 do not count; those that get 304 or 5xx are
refunded, in each window at most as many as its limit. A key that keeps sending requests after a 429 is [banned](${to('limits')}#bans), at first for two minutes.

**Stability.** Operations without \`x-stability\` do not break without a [deprecation](${to('deprecation')}). \`beta\`: meant to
stay; breaking changes are announced 30 days ahead. \`experimental\`: may change or disappear with any release.

**Timestamps** are stored in UTC and cut to milliseconds. The timestamps of events have microseconds.`;
}

/** Returns the tags and tag groups. Tools that do not know `x-parent`, which nests tags, can show the groups. */
function tagParts(): object {
  const sorted = definedTags();
  const names = new Set(sorted.map(({ parent, group = parent }) => group));
  const groups = [...names].map((name) => ({
    name,
    members: sorted.filter(({ parent, group = parent }) => group === name),
  }));
  const tags = groups.flatMap(({ name, members }) => [
    ...(members[0]?.parent === name ? [{ name }] : []),
    ...members.map((tag) => ({ name: tag.name, description: tag.description, 'x-parent': tag.parent })),
  ]);
  const named = groups.map(({ name, members }) => ({ name, tags: members.map((tag) => tag.name) }));
  return { tags, 'x-tagGroups': named };
}

export function buildDocument(app: INestApplication): OpenAPIObject {
  const base = new DocumentBuilder()
    .setOpenAPIVersion('3.0.3')
    .setTitle('Pet Store')
    .setVersion('1.0.0')
    .setDescription(description())
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .setExternalDoc('Guides for callers', ADDRESS_PLACEHOLDER + INDEX_PATH)
    .addServer(ADDRESS_PLACEHOLDER, 'The service that serves this document: local, staging or production.')
    .addSecurityRequirements(API_KEY_SCHEME)
    .addSecurityRequirements(BEARER_SCHEME)
    .addApiKey(
      { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'Your API key.' },
      API_KEY_SCHEME,
    )
    .addSecurity(BEARER_SCHEME, {
      type: 'http',
      scheme: 'bearer',
      description: 'Your key as a bearer token.',
    })
    .build();
  // Mark the API as public, because the OWASP rules for OpenAPI documents require `x-internal`.
  base.servers = base.servers!.map((server) => ({ ...server, 'x-internal': false }));
  base.info.contact = {
    name: 'The operator who issued your API key',
    url: `${ADDRESS_PLACEHOLDER}${guidePath('getting-started')}#help`,
  };
  const document = SwaggerModule.createDocument(app, base, { autoTagControllers: false });
  completeDocument(document);
  const { openapi, info, externalDocs, servers, security, paths, components } = document;
  return { openapi, info, externalDocs, servers, security, ...tagParts(), paths: inOrder(paths), components };
}

function inOrder(paths: OpenAPIObject['paths']): OpenAPIObject['paths'] {
  const names = definedTags().map(({ name }) => name);
  const placeOf = (item: object): number => {
    const [{ tags }] = Object.values(item) as [OperationObject];
    return names.indexOf(tags![0]!);
  };
  const sorted = Object.entries(paths).sort(([, one], [, other]) => placeOf(one) - placeOf(other));
  return Object.fromEntries(sorted);
}

export async function documentText(document: OpenAPIObject, format: 'json' | 'yaml'): Promise<string> {
  if (format === 'json') {
    return `${JSON.stringify(document, null, 2)}\n`;
  }
  const { stringify } = await import('yaml');
  // `compat` quotes texts such as 2026-11-24, which YAML 1.1 parsers would otherwise read as dates.
  return stringify(document, { aliasDuplicateObjects: false, compat: 'yaml-1.1', lineWidth: 120 });
}

type NotedOperation = OperationObject & { [NOTES]?: Notes[] };
type Components = NonNullable<OpenAPIObject['components']>;
type Responses = Record<string, ResponseObject | ReferenceObject>;
type Schemas = Record<string, SchemaObject>;

const NOT_MODIFIED = 'Not modified: `If-None-Match` has the current ETag of the resource, or is `*`.';

/** Turns the notes of decorators into parameters, responses and headers of the document. */
function completeDocument({ paths, components = {} }: OpenAPIObject): void {
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
  // Parameters that several operations share become components.
  const own = (operation.parameters as ParameterObject[]).map((parameter) => {
    const { name } = parameter;
    shared[name] ??= parameter;
    return isDeepStrictEqual(shared[name], parameter) ? reference('parameters', name) : parameter;
  });
  const isConditional = method === 'get' && noted(operation, 'success').includes('ETag');
  const names = [...noted(operation, 'parameters'), ...(isConditional ? ['If-None-Match'] : [])];
  operation.parameters = [...own, ...names.map((name) => reference('parameters', name))];
  const json = (operation.requestBody as RequestBodyObject | undefined)?.content['application/json'];
  if (json) {
    const { $ref } = json.schema as ReferenceObject;
    (components.schemas as Schemas)[nameIn($ref)]!.additionalProperties = false;
    const bodies = noted(operation, 'bodies');
    Object.assign(json, bodies.length > 0 && { examples: Object.fromEntries(bodies) });
  }
}

/** Adds errors, 304 and headers to the responses of an operation. Equal responses become shared components. */
function completeResponses(operation: NotedOperation, method: string, components: Components): void {
  const always = noted(operation, 'always');
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
    response.headers = headerReferences([...noted(operation, 'success'), ...always]);
  }
  if ('204' in responses) {
    respond(204, 'NoContent', responses['204'] as ResponseObject);
  }
  if (method === 'get') {
    const headers = headerReferences(['ETag', 'Link', ...always]);
    respond(304, 'NotModified', { description: NOT_MODIFIED, headers });
  }
  const errors = possibleErrors(operation, method);
  for (const status of new Set(errors.map((error) => error.status))) {
    const group = errors.filter((error) => error.status === status);
    respond(status, nameOf(group), errorResponse(group, always));
  }
}

function possibleErrors(operation: NotedOperation, method: string): ErrorDefinition[] {
  const excluded = noted(operation, 'never').map(({ definition }) => definition);
  const others = errorCatalogue().filter(
    ({ everywhere }) => everywhere === 'operations' || (everywhere === 'bodies' && method !== 'get'),
  );
  const all = [...noted(operation, 'errors').map(({ definition }) => definition), ...others];
  return [...new Set(all)].filter((error) => !excluded.includes(error)).sort((a, b) => a.status - b.status);
}

function errorResponse(errors: ErrorDefinition[], always: readonly string[]): ResponseObject {
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
    headers: headerReferences([...headers, ...always, ...replayed]),
  };
}

/** Names the component of a response after its errors, for example `PetNotFound`. */
function nameOf(errors: ErrorDefinition[]): string {
  const own = errors.filter((error) => errors.length === 1 || error.everywhere !== 'operations');
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

/** Adds the type, which Scalar needs, to schemas, and moves `id` to the front. */
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
