import { HttpCode, type Type, applyDecorators } from '@nestjs/common';
import {
  ApiExtraModels,
  ApiOperation,
  ApiResponse,
  type OperationObject,
  type SchemaObject,
  getSchemaPath,
} from '@nestjs/swagger';
import type { AnyDefinedError } from './errors';
import { InvalidCursorError, MAX_PAGE_SIZE } from './paging';
import type { RepresentationOptions } from './representation';
import { AddRouteConfig, type Deprecation, Documented, type Examples, OperationGoneError } from './routes';

/** A class, or the name of a shared schema of the OpenAPI document. */
type Schema = Type<unknown> | string;

/** The successful response. `resource`, `page` or `body` says what the handler returns. */
interface ResponseOptions extends RepresentationOptions {
  description: string;
  /** One resource with an ETag; reads support `If-None-Match`. */
  resource?: Schema;
  /** Entries of a Page, which is sent as an array of at most MAX_PAGE_SIZE. */
  page?: Schema;
  /** Anything else, sent as it is. */
  body?: Schema;
  /** A shared schema of the whole array of a page, where it has one. */
  schema?: string;
  /** An actual response body, or several by name. */
  example?: unknown;
  examples?: Examples;
}

interface OperationOptions {
  id: string;
  summary: string;
  description: string;
  /** When absent, a success is 204. */
  response?: ResponseOptions;
  /** Examples of the request's body. */
  bodies?: Examples;
  errors?: AnyDefinedError[];
  deprecated?: Deprecation;
  stability?: 'experimental' | 'beta';
  hideTryItPanel?: boolean;
  /** Requests that the service sends because of this one. */
  callbacks?: OperationObject['callbacks'];
}

/** Names an operation, says what it returns, and documents it. */
export function Operation(options: OperationOptions): MethodDecorator {
  const { id, response, bodies = {}, errors, stability, deprecated, hideTryItPanel, ...texts } = options;
  // Scalar and Redoc show badges, not our markers.
  const badges = [...(deprecated ? [`sunset ${deprecated.sunset}`] : []), ...(stability ? [stability] : [])];
  const described = {
    operationId: id,
    ...texts,
    deprecated: deprecated && true,
    'x-deprecated-sunset': deprecated?.sunset,
    'x-stability': stability,
    'x-badges': badges.length > 0 ? badges.map((name) => ({ name })) : undefined,
    'x-hideTryItPanel': hideTryItPanel,
  };
  return applyDecorators(
    ApiOperation(described),
    Documented({ errors, bodies: Object.entries(bodies) }),
    ...(deprecated ? announcing(deprecated) : []),
    ...(response ? responding(response) : noContent),
  );
}

/** Announces the removal in the header fields of every response, for which the route's configuration has it. */
function announcing(deprecation: Deprecation): MethodDecorator[] {
  const { since, sunset } = deprecation;
  const days = { Deprecation: `@${Date.parse(since) / 1000}`, Sunset: new Date(sunset).toUTCString() };
  return [
    AddRouteConfig({ deprecation: { ...deprecation, days } }),
    Documented({ always: ['Deprecation', 'Sunset', 'Link'], errors: [OperationGoneError] }),
  ];
}

const noContent = [HttpCode(204), ApiResponse({ status: 204, description: 'Done; there is no body.' })];

function responding(response: ResponseOptions): MethodDecorator[] {
  const { status = 200, description, resource, page, body, single, example, examples } = response;
  const type = resource ?? page ?? body!;
  const entry = { $ref: getSchemaPath(type) };
  const array = response.schema
    ? { $ref: getSchemaPath(response.schema) }
    : { type: 'array', maxItems: MAX_PAGE_SIZE, items: entry };
  const content = { schema: page ? array : entry, ...(examples ? { examples } : { example }) };
  const success = [
    ...(page ? ['Link'] : []),
    ...(resource || single ? ['ETag'] : []),
    ...(status === 201 ? ['Location'] : []),
  ];
  return [
    HttpCode(status),
    ApiResponse({ status, description, content: { 'application/json': content } }),
    Documented({ success, errors: page ? [InvalidCursorError] : [] }),
    ...(typeof type === 'string' ? [] : [ApiExtraModels(type)]),
    ...(body ? [] : [AddRouteConfig({ representation: { ...response, isPage: page !== undefined } })]),
  ];
}

/**
 * What every response has of a schema whose fields the specification leaves optional.
 * @param properties those that are required then; some generators require one only where its type is stated as well
 */
export function storedSchema(
  name: string,
  properties: NonNullable<SchemaObject['properties']>,
): SchemaObject {
  const required = Object.keys(properties);
  return {
    type: 'object',
    description: `${name} as every response has it.`,
    allOf: [{ $ref: getSchemaPath(name) }, { type: 'object', required, properties }],
  };
}
