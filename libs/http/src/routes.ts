// This file has the decorators that describe an operation to the router and to the OpenAPI document.
import type { RequestMethod } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/constants';
import { FASTIFY_ROUTE_CONFIG_METADATA } from '@nestjs/platform-fastify/constants';
import { ApiTags, DECORATORS } from '@nestjs/swagger';
import type { FastifyContextConfig } from 'fastify';
import type { AnyDefinedError } from './errors';

/**
 * Decorator that adds entries to a route's Fastify configuration. Nest's `RouteConfig` would replace the entries that
 * earlier decorators have added.
 */
export function AddRouteConfig(facts: FastifyContextConfig): MethodDecorator {
  return (_target, _key, { value: handler }) => {
    const all = { ...routeConfigOf(handler as object), ...facts };
    Reflect.defineMetadata(FASTIFY_ROUTE_CONFIG_METADATA, all, handler as object);
  };
}

export function routeConfigOf(handler: object): FastifyContextConfig | undefined {
  return Reflect.getMetadata(FASTIFY_ROUTE_CONFIG_METADATA, handler) as FastifyContextConfig | undefined;
}

export const NOTES = 'x-operation-notes';

export type Examples = Record<string, { summary: string; value: unknown }>;

/** What a decorator adds to the documentation of an operation. */
export interface Notes {
  errors?: readonly AnyDefinedError[];
  /** Errors that every other operation can return (`commonTo`), but this operation cannot. */
  excludedErrors?: readonly AnyDefinedError[];
  requestHeaders?: readonly ('If-Match' | 'Idempotency-Key')[];
  /** Names of the header fields that each response has. */
  responseHeaders?: readonly string[];
  /** Names of the header fields that only successful responses have. */
  successHeaders?: readonly string[];
  bodyExamples?: readonly [name: string, example: Examples[string]][];
}

export function Documented(added: Notes): MethodDecorator {
  return (_target, _key, { value: handler }) => {
    const extensions = Reflect.getMetadata(DECORATORS.API_EXTENSION, handler as object) as
      { [NOTES]?: Notes[] } | undefined;
    const notes = [...(extensions?.[NOTES] ?? []), added];
    Reflect.defineMetadata(DECORATORS.API_EXTENSION, { ...extensions, [NOTES]: notes }, handler as object);
  };
}

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

/**
 * A tag of the OpenAPI document. Pages of the documentation show the tag below its `parent`, which is another tag, or
 * below its `group`, which is a heading.
 */
interface TagOptions {
  name: string;
  description: string;
  parent?: string;
  group?: string;
  /**
   * The position of the tag and its operations in the documentation. Positions are multiples of ten, so that a tag can
   * be added between two others.
   */
  place: number;
}

const tags: TagOptions[] = [];

export function Tag(tag: TagOptions): ClassDecorator {
  tags.push(tag);
  return ApiTags(tag.name);
}

export function definedTags(): readonly TagOptions[] {
  return tags.toSorted((one, other) => one.place - other.place);
}
