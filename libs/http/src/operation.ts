import { HttpCode, SetMetadata, type Type, applyDecorators } from '@nestjs/common';
import {
  ApiExtension,
  ApiExtraModels,
  ApiOperation,
  ApiResponse,
  type OperationObject,
  getSchemaPath,
} from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AnyDefinedError } from './errors';
import { Documented, type Examples } from './notes';
import {
  InvalidCursorError,
  MAX_PAGE_SIZE,
  type Page,
  type PageOptions,
  asPage,
  cursorAfter,
} from './paging';
import { type Deprecation, Deprecated, isGone, routeOf, successorOf } from './routes';
import { asSingleResource } from './single-resource';

/** A class, or the name of a shared schema of the OpenAPI document. */
type Schema = Type<unknown> | string;

/** The successful response. `resource`, `page` or `body` says what the handler returns. */
interface ResponseOptions {
  /** 200 when absent. 201 has a `Location`: the operation's path and the new id. */
  status?: 200 | 201 | 202;
  /** The deprecation of the operation that `Location` leads to. */
  deprecatedRead?: Deprecation;
  description: string;
  /** One resource with an ETag; reads support `If-None-Match`. */
  resource?: Schema;
  /** The representation that a GET would return, which has the ETag, if this operation returns more. */
  asRead?: (resource: never) => object;
  /** Entries of a Page, which is sent as an array of at most MAX_PAGE_SIZE. */
  page?: Schema;
  paging?: PageOptions;
  /** Anything else, sent as it is. */
  body?: Schema;
  /** A shared schema of the whole array of a page, where it has one. */
  schema?: string;
  /** An actual response body, or several by name. */
  example?: unknown;
  examples?: Examples;
}

interface OperationOptions {
  /** operationId. */
  id: string;
  summary: string;
  description: string;
  /** When absent, a success is 204. */
  response?: ResponseOptions;
  /** Examples of the request's body. */
  bodies?: Examples;
  /** Errors of this operation in addition to those of every operation. */
  errors?: AnyDefinedError[];
  deprecated?: Deprecation;
  stability?: 'experimental' | 'beta';
  hideTryItPanel?: boolean;
  /** Requests that the service sends because of this one. */
  callbacks?: OperationObject['callbacks'];
}

/** Names an operation, says what it returns, and documents it. */
export function Operation(options: OperationOptions): MethodDecorator {
  const { id, summary, description, response, bodies, errors, stability } = options;
  const { deprecated, hideTryItPanel, callbacks } = options;
  return applyDecorators(
    ApiOperation({
      operationId: id,
      summary,
      description,
      ...(callbacks ? { callbacks } : {}),
      ...(deprecated ? { deprecated: true } : {}),
    }),
    Documented({ errors, bodies }),
    ...(deprecated ? [Deprecated(deprecated)] : []),
    ...(response ? responding(response) : noContent),
    ...(stability ? [ApiExtension('x-stability', stability)] : []),
    ...(hideTryItPanel ? [ApiExtension('x-hideTryItPanel', true)] : []),
  );
}

const noContent = [HttpCode(204), ApiResponse({ status: 204, description: 'Done; there is no body.' })];

function responding(response: ResponseOptions): MethodDecorator[] {
  const { status = 200, description, resource, page, body, example, examples } = response;
  const type = resource ?? page ?? body!;
  const entry = { $ref: typeof type === 'string' ? pathOf(type) : getSchemaPath(type) };
  const array = response.schema
    ? { $ref: pathOf(response.schema) }
    : { type: 'array', maxItems: MAX_PAGE_SIZE, items: entry };
  const content = { schema: page ? array : entry, ...(examples ? { examples } : { example }) };
  return [
    HttpCode(status),
    ApiResponse({ status, description, content: { 'application/json': content } }),
    ...(typeof type === 'string' ? [] : [ApiExtraModels(type)]),
    ...(page || resource ? [SetMetadata(REPRESENTATION, representationBy(response)), noted(response)] : []),
  ];
}

/** The header fields that a resource or a page has, and what their requests may ask. */
function noted({ status, resource, page, paging: { link, single } = {} }: ResponseOptions): MethodDecorator {
  const next = { name: 'Link', example: `<{path}?cursor=${cursorAfter(20)}>; rel="next"`, ...link };
  const description = `Of the only entry. Present if the request has one \`${single}\` and nothing else.`;
  const headers = [
    ...(page ? [next] : []),
    ...(resource ? ['ETag'] : []),
    ...(single ? [{ name: 'ETag', description, required: false }] : []),
    ...(status === 201 ? [{ name: 'Location', example: '{path}/1' }] : []),
  ];
  return Documented({
    headers: { success: headers },
    parameters: resource || single ? ['If-None-Match'] : [],
    errors: page ? [InvalidCursorError] : [],
  });
}

const REPRESENTATION = Symbol('representation');

/**
 * Turns the result of an operation into the body of a successful response, and sets the status and header fields that
 * depend on it. Undefined means no body.
 */
type Representation = (result: never, request: FastifyRequest, reply: FastifyReply) => string | undefined;

/** How a handler's results are sent; undefined if as they are. */
export function representationOf(handler: object): Representation | undefined {
  return Reflect.getMetadata(REPRESENTATION, handler) as Representation | undefined;
}

function representationBy(response: ResponseOptions): Representation {
  const { status, page, paging = {}, deprecatedRead, asRead = (resource: object) => resource } = response;
  return page
    ? (result: Page<unknown>, request, reply) => asPage(result, paging, request, reply)
    : (resource: object, request, reply) => {
        if (status === 201) {
          void reply.header('Location', locationOf(resource as { id: number }, request, deprecatedRead));
        }
        return asSingleResource(resource, asRead(resource as never), request, reply);
      };
}

/** The collection's path and the new id (RFC 9110, section 10.2.2), or the successor of the read once that is gone. */
function locationOf({ id }: { id: number }, request: FastifyRequest, read?: Deprecation): string {
  return read && isGone(read, request) ? successorOf(read, String(id)) : `${routeOf(request).url}/${id}`;
}

function pathOf(schema: string): string {
  return `#/components/schemas/${schema}`;
}
