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
import type { PageOptions, ResourceOptions } from './representation';
import { AddRouteConfig, Documented, type Examples } from './routes';

type Schema = Type<unknown> | string;

/** The successful response of an operation: a resource (sent with an ETag), a page of a list, or any other body. */
type ResponseOptions = {
  /** Default: 200. A response with a resource and the status 201 has the header `Location`. */
  status?: 200 | 201 | 202;
  description: string;
  example?: unknown;
  examples?: Examples;
} & (
  | ({ resource: Schema } & ResourceOptions)
  | ({
      /** The schema of an entry. */
      page: Schema;
      /** The name of the OpenAPI schema for the array of entries. Default: an array schema without a name. */
      schema?: string;
    } & PageOptions)
  | { body: Schema }
);

interface OperationOptions {
  id: string;
  summary: string;
  description: string;
  /** The successful response. Default: 204 without a body. */
  response?: ResponseOptions;
  bodyExamples?: Examples;
  errors?: AnyDefinedError[];
  deprecated?: Deprecation;
  stability?: 'experimental' | 'beta';
  hideTryItPanel?: boolean;
  callbacks?: OperationObject['callbacks'];
}

export function Operation(options: OperationOptions): MethodDecorator {
  const {
    id,
    response,
    bodyExamples = {},
    errors,
    stability,
    deprecated,
    hideTryItPanel,
    ...texts
  } = options;
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
    Documented({ errors, bodyExamples: Object.entries(bodyExamples) }),
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
    Documented({ responseHeaders: ['Deprecation', 'Sunset', 'Link'], errors: [OperationGoneError] }),
  ];
}

const noContent = [HttpCode(204), ApiResponse({ status: 204, description: 'Done; there is no body.' })];

function responding(response: ResponseOptions): MethodDecorator[] {
  const { status = 200, description, example, examples } = response;
  const success = (type: Schema, schema: object = referenceTo(type)) => [
    HttpCode(status),
    ApiResponse({
      status,
      description,
      content: { 'application/json': { schema, ...(examples ? { examples } : { example }) } },
    }),
    ...(typeof type === 'string' ? [] : [ApiExtraModels(type)]),
  ];
  if ('resource' in response) {
    const { resource, asRead } = response;
    return [
      ...success(resource),
      Documented({ successHeaders: ['ETag', ...(status === 201 ? ['Location'] : [])] }),
      AddRouteConfig({ representation: { resource: { asRead } } }),
    ];
  }
  if ('page' in response) {
    const { page, schema, single } = response;
    const array = { type: 'array', maxItems: MAX_PAGE_SIZE, items: referenceTo(page) };
    return [
      ...success(page, schema ? referenceTo(schema) : array),
      Documented({ successHeaders: ['Link', ...(single ? ['ETag'] : [])], errors: [InvalidCursorError] }),
      AddRouteConfig({ representation: { page: { single } } }),
    ];
  }
  return success(response.body);
}

function referenceTo(schema: Schema): { $ref: string } {
  return { $ref: getSchemaPath(schema) };
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
    allOf: [referenceTo(name), { type: 'object', required, properties }],
  };
}
