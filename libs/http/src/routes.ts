// What decorators say of an operation: to the router, to the OpenAPI document, and to callers of what will be removed.
import type { RequestMethod } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/constants';
import { FASTIFY_ROUTE_CONFIG_METADATA } from '@nestjs/platform-fastify/constants';
import { ApiTags, DECORATORS } from '@nestjs/swagger';
import type { FastifyContextConfig, FastifyRequest } from 'fastify';
import { type AnyDefinedError, defineError } from './errors';

/** Also known of a request that fails before any guard. Adds up over decorators, unlike Nest's `RouteConfig`. */
export function AddRouteConfig(facts: FastifyContextConfig): MethodDecorator {
  return (_target, _key, { value: handler }) => {
    const all = { ...routeConfigOf(handler as object), ...facts };
    Reflect.defineMetadata(FASTIFY_ROUTE_CONFIG_METADATA, all, handler as object);
  };
}

/** What decorators say of the handler's route. */
export function routeConfigOf(handler: object): FastifyContextConfig | undefined {
  return Reflect.getMetadata(FASTIFY_ROUTE_CONFIG_METADATA, handler) as FastifyContextConfig | undefined;
}

/** The extension of an operation in which its decorators' notes travel to `buildDocument`, so that they document what they do. */
export const NOTES = 'x-operation-notes';

/** Examples of a body by name, in OpenAPI's format. */
export type Examples = Record<string, { summary: string; value: unknown }>;

/** Header fields and parameters go by their names in the OpenAPI document. */
export interface Notes {
  errors?: readonly AnyDefinedError[];
  /** Errors that every other operation can return, but not this one. */
  never?: readonly AnyDefinedError[];
  success?: readonly string[];
  always?: readonly string[];
  parameters?: readonly ('If-Match' | 'Idempotency-Key')[];
  bodies?: readonly [name: string, example: Examples[string]][];
}

/** Adds to the notes of an operation, of which the document is made. */
export function Documented(added: Notes): MethodDecorator {
  return (_target, _key, { value: handler }) => {
    const extensions = Reflect.getMetadata(DECORATORS.API_EXTENSION, handler as object) as
      { [NOTES]?: Notes[] } | undefined;
    const notes = [...(extensions?.[NOTES] ?? []), added];
    Reflect.defineMetadata(DECORATORS.API_EXTENSION, { ...extensions, [NOTES]: notes }, handler as object);
  };
}

/** Decorates each operation of a controller by its HTTP method, so that what follows from the method is not said again. */
export function EachOperation(
  decoratorOf: (method: RequestMethod, handler: object) => MethodDecorator | undefined,
): ClassDecorator {
  return ({ prototype }) => {
    for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(prototype as object))) {
      const handler = descriptor.value as object;
      const method = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod | undefined;
      if (method !== undefined) {
        decoratorOf(method, handler)?.(prototype as object, name, descriptor);
      }
    }
  };
}

/** A tag of the OpenAPI document, shown below its parent, or else in a group that is no tag. */
interface TagOptions {
  name: string;
  description: string;
  parent?: string;
  group?: string;
}

const tags: TagOptions[] = [];

/** Puts the operations of a controller under a tag. */
export function Tag(tag: TagOptions): ClassDecorator {
  tags.push(tag);
  return ApiTags(tag.name);
}

/** Every tag defined so far. */
export function definedTags(): readonly TagOptions[] {
  return tags;
}

/** The announced removal of an operation. */
export interface Deprecation {
  /** Day since which the operation is deprecated, `YYYY-MM-DD` (UTC). */
  since: string;
  /** Day from which it may be removed, `YYYY-MM-DD` (UTC). */
  sunset: string;
  documentation: string;
  /** The replacement's target; `{name}` in it stands for the operation's path parameter. */
  successor: string;
}

/** Valid parameters are shorter. What is longer may be a key that was sent in the wrong place. */
const MAX_ECHOED = 30;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** With the header fields of its two days, which are made once. */
    deprecation?: Deprecation & { days: Record<'Deprecation' | 'Sunset', string> };
  }
  interface FastifyRequest {
    /** Unix milliseconds; operations with a sunset until then are gone. Absent if they still answer. */
    goneUntil?: number;
  }
}

/** Whether the sunset of a deprecated operation has passed, and the settings end it then. */
export function isGone({ sunset }: Deprecation, { goneUntil }: FastifyRequest): boolean {
  return goneUntil !== undefined && goneUntil >= Date.parse(sunset);
}

/** The target of the replacement, for the resource that the path parameter names. */
export function successorOf({ successor }: Deprecation, parameter: string): string {
  return successor.replace(/\{\w+\}/, parameter);
}

export const OperationGoneError = defineError({
  code: 'operation_gone',
  status: 410,
  when: 'The operation was deprecated and its sunset has passed. `Link` names its successor.',
  message: 'This operation is gone. The Link header names its successor.',
});

const NO_HEADERS = {};

/** Those of every response of a deprecated operation (RFC 9745, RFC 8594, and RFC 5829 for the successor). */
export function deprecationHeadersOf(request: FastifyRequest): Record<string, string> {
  const { prefix, params, routeOptions } = request;
  const { deprecation } = routeOptions.config;
  if (deprecation === undefined) {
    return NO_HEADERS;
  }
  const [parameter = ''] = Object.values(params as Record<string, string>);
  // A decoded parameter may contain an unpaired surrogate, which encodeURIComponent would reject.
  const echoed = encodeURIComponent(parameter.slice(0, MAX_ECHOED).toWellFormed());
  const explained = `<${prefix}${deprecation.documentation}>; rel="deprecation"; type="text/html"`;
  const replaced = `<${prefix}${successorOf(deprecation, echoed)}>; rel="successor-version"`;
  return { ...deprecation.days, Link: `${explained}, ${replaced}` };
}
