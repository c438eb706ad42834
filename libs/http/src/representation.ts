import { SetMetadata } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';

const REPRESENTATION = Symbol('representation');

/** The content type of a representation that is already text. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Turns the result of an operation into the body of a successful response, and sets the status and header fields that
 * depend on it. Undefined means no body.
 */
export type Representation = (result: never, request: FastifyRequest, reply: FastifyReply) => unknown;

/** Sends the operation's results in this representation instead of as they are. */
export function RepresentedBy(representation: Representation): MethodDecorator {
  return SetMetadata(REPRESENTATION, representation);
}

/** The representation that a handler declares. */
export function representationOf(handler: object): Representation | undefined {
  return Reflect.getMetadata(REPRESENTATION, handler) as Representation | undefined;
}
