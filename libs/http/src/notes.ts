import type { RequestMethod } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/constants';
import { ApiTags, DECORATORS } from '@nestjs/swagger';
import type { AnyDefinedError } from './errors';

/**
 * What decorators note about an operation while they guard it, so that the OpenAPI document describes what the code does. Notes
 * travel through the document as this extension of the operation; `completeDocument` turns them into parts of it.
 */
export const NOTES = 'x-operation-notes';

/** Examples of a body by name, in OpenAPI's format. */
export type Examples = Record<string, { summary: string; value: unknown }>;

/** Header fields and parameters go by their names in the OpenAPI document. */
export interface Notes {
  /** Errors that the operation can return. */
  errors?: readonly AnyDefinedError[];
  /** Errors that every other operation can return, but not this one. */
  never?: readonly AnyDefinedError[];
  /** Header fields of its successful responses. */
  success?: readonly string[];
  /** Header fields of all its responses. */
  always?: readonly string[];
  parameters?: readonly ('If-Match' | 'Idempotency-Key')[];
  /** Examples of its bodies, by name. */
  bodies?: readonly [name: string, example: Examples[string]][];
}

/** Adds to the notes of an operation. */
export function Documented(added: Notes): MethodDecorator {
  return (_target, _key, { value: handler }) => {
    const extensions = (Reflect.getMetadata(DECORATORS.API_EXTENSION, handler as object) ?? {}) as {
      [NOTES]?: Record<string, readonly unknown[]>;
    };
    const known = extensions[NOTES] ?? {};
    const lists = Object.entries(added as Record<string, readonly unknown[] | undefined>).map(
      ([name, list = []]) => [name, [...(known[name] ?? []), ...list]] as const,
    );
    const notes = { ...known, ...Object.fromEntries(lists) };
    Reflect.defineMetadata(DECORATORS.API_EXTENSION, { ...extensions, [NOTES]: notes }, handler as object);
  };
}

/**
 * Decorates each operation of a controller by its HTTP method, so that what follows from the method is not said again.
 * @param decoratorOf the decorator for a handler; undefined for none
 */
export function EachOperation(
  decoratorOf: (method: RequestMethod, handler: object) => MethodDecorator | undefined,
): ClassDecorator {
  return ({ prototype }) => {
    const members = Object.getOwnPropertyDescriptors(prototype as object);
    for (const [name, descriptor] of Object.entries(members)) {
      const handler = descriptor.value as object;
      const method = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod | undefined;
      const decorate = method === undefined ? undefined : decoratorOf(method, handler);
      decorate?.(prototype as object, name, descriptor);
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

/** Every tag defined so far, by name. */
export function definedTags(): readonly TagOptions[] {
  return tags.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}
