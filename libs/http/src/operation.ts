import { HttpCode, type Type, applyDecorators } from '@nestjs/common';
import {
  ApiExtraModels,
  ApiOperation,
  ApiResponse,
  type OperationObject,
  type SchemaObject,
  getSchemaPath,
} from '@nestjs/swagger';
import { type Deprecation, OperationGoneError } from './deprecation';
import type { AnyDefinedError } from './errors';
import { InvalidCursorError, MAX_PAGE_SIZE } from './paging';
import type { RepresentationOptions } from './representation';
import { AddRouteConfig, Documented, type Examples } from './routes';

type Schema = Type<unknown> | string;

/** The successful response of an operation: a `resource` (sent with an ETag), a `page`, or any other `body`. */
interface ResponseOptions extends RepresentationOptions {
  description: string;
  resource?: Schema;
  page?: Schema;
  body?: Schema;
  /** The name of the OpenAPI schema for the array of entries. Default: an array schema without a name. */
  schema?: string;
  example?: unknown;
  examples?: Examples;
}

interface OperationOptions {
  id: string;
  summary: string;
  description: string;
  /** The successful response. Default: 204 without a body. */
  response?: ResponseOptions;
  bodies?: Examples;
  errors?: AnyDefinedError[];
  deprecated?: Deprecation;
  stability?: 'experimental' | 'beta';
  hideTryItPanel?: boolean;
  callbacks?: OperationObject['callbacks'];
}

export function Operation(options: OperationOptions): MethodDecorator {
  const { id, response, bodies = {}, errors, stability, deprecated, hideTryItPanel, ...texts } = options;
  // Show the sunset and the stability as badges, too, because Scalar and Redoc show `x-badges` but not the other
  // fields.
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
    ...(deprecated ? announcing(id, deprecated) : []),
    ...(response ? responding(response) : noContent),
  );
}

/** Announces the removal of an operation in the header fields of every response. */
function announcing(operationId: string, deprecation: Deprecation): MethodDecorator[] {
  const { since, sunset } = deprecation;
  const days = { Deprecation: `@${Date.parse(since) / 1000}`, Sunset: new Date(sunset).toUTCString() };
  return [
    AddRouteConfig({ deprecation: { ...deprecation, operationId, days } }),
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
 * Returns an OpenAPI schema for responses with the resource `name`, in which more fields are required than in the
 * resource's own schema.
 * @param properties the fields to require. Their types are repeated, because some code generators ignore `required`
 * without a type
 */
export function responseSchema(
  name: string,
  properties: NonNullable<SchemaObject['properties']>,
): SchemaObject {
  const required = Object.keys(properties);
  return {
    type: 'object',
    description: `${name} in a response, where the required fields are always present.`,
    allOf: [{ $ref: getSchemaPath(name) }, { type: 'object', required, properties }],
  };
}
