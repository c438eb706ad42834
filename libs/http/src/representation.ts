import { SetMetadata } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';

const REPRESENTATION = Symbol('representation');

/** What a representation that is text already has to be declared as. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Makes the body of a successful answer out of what the operation returned, and sets the status and header fields that
 * depend on it; undefined is no body.
 */
export type Representation = (result: never, request: FastifyRequest, reply: FastifyReply) => unknown;

/** The operation's results are sent in this representation; without it they are sent as they are. */
export function RepresentedBy(representation: Representation): MethodDecorator {
  return SetMetadata(REPRESENTATION, representation);
}

/** The representation that a handler declares. */
export function representationOf(handler: object): Representation | undefined {
  return Reflect.getMetadata(REPRESENTATION, handler) as Representation | undefined;
}
