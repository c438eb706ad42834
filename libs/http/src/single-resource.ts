import { hash } from 'node:crypto';
import { type ExecutionContext, createParamDecorator } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { PreconditionFailedError } from './errors';
import { Documented } from './notes';

/** The content type of a representation that is already text. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Strong entity tag of a representation: equal tags mean equal bytes (RFC 9110, section 8.8.3).
 * @param representation the body as it is sent
 * @returns the tag with its quotes, 24 characters
 */
export function entityTag(representation: string | Buffer): string {
  return `"${hash('sha1', representation, 'base64url').slice(0, 22)}"`;
}

/** Splits `If-Match` or `If-None-Match` into its tags. A tag may contain a comma, so split(',') would be wrong. */
function tagsOf(field: string): string[] {
  return field.match(/(?:W\/)?"[^"]*"/g) ?? [];
}

/** True when a GET with this `If-None-Match` may be answered 304 (weak comparison, RFC 9110, section 13.1.2). */
export function noneMatchHits(ifNoneMatch: string, tag: string): boolean {
  return ifNoneMatch.trim() === '*' || tagsOf(ifNoneMatch).some((held) => held.replace(/^W\//, '') === tag);
}

/**
 * The condition of a change (RFC 9110, section 13.1): `If-Match`, and `If-None-Match: *` of a PUT that must not replace
 * anything. Check it while holding the row's lock, against the representation that a GET would return at that moment.
 */
export class Precondition {
  static readonly NONE = new Precondition(undefined);

  /** @param mustNotExist whether the request asks that there is no such resource */
  constructor(
    private readonly ifMatch: string | undefined,
    private readonly mustNotExist = false,
  ) {}

  /** @throws PreconditionFailedError if the resource does not have the tag (any more), or must not exist */
  assertHolds(resource: object): void {
    if (this.mustNotExist) {
      throw new PreconditionFailedError('The resource exists, and If-None-Match: * asks that it does not.');
    }
    if (this.ifMatch === undefined || this.ifMatch.trim() === '*') {
      return;
    }
    // Strong comparison: a weak tag never matches.
    if (!tagsOf(this.ifMatch).includes(entityTag(JSON.stringify(resource)))) {
      throw new PreconditionFailedError(
        'The resource has changed. Get it again and send its new ETag in If-Match.',
      );
    }
  }
}

/** Sets the ETag of a single resource, and returns 304 to a GET that sends the same one. */
export function asSingleResource(
  resource: object,
  tagged: object,
  request: FastifyRequest,
  reply: FastifyReply,
): string | undefined {
  const body = JSON.stringify(resource);
  const tag = entityTag(tagged === resource ? body : JSON.stringify(tagged));
  void reply.header('ETag', tag);
  const ifNoneMatch = request.headers['if-none-match'];
  const reads = request.method === 'GET' || request.method === 'HEAD';
  if (reads && ifNoneMatch !== undefined && noneMatchHits(ifNoneMatch, tag)) {
    void reply.status(304);
    return undefined;
  }
  void reply.type(JSON_TYPE);
  return body;
}

const precondition = createParamDecorator((_data: unknown, context: ExecutionContext) => {
  const { method, headers } = context.switchToHttp().getRequest<FastifyRequest>();
  const mustNotExist = method === 'PUT' && headers['if-none-match']?.trim() === '*';
  const ifMatch = headers['if-match'];
  return ifMatch === undefined && !mustNotExist ? Precondition.NONE : new Precondition(ifMatch, mustNotExist);
});

/** Parameter decorator: the Precondition of the request. Documents `If-Match` and the 412. */
export function IfMatch(): ParameterDecorator {
  return (target, key, index) => {
    precondition()(target, key, index);
    const descriptor = Object.getOwnPropertyDescriptor(target, key!)!;
    Documented({ errors: [PreconditionFailedError], parameters: ['If-Match'] })(target, key!, descriptor);
  };
}
