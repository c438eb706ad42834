// Conditional requests (RFC 9110, section 13.1).
import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { SetMetadata, applyDecorators } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { PreconditionFailedError } from './errors';
import { Documented } from './notes';

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

/**
 * Whether `If-None-Match` names what is there (weak comparison): a read is 304 then, and a change 412.
 * @param tag null if what is there has no tag
 */
function matchesIfNoneMatch(ifNoneMatch: string | undefined, tag: string | null): boolean {
  if (ifNoneMatch === undefined) {
    return false;
  }
  return ifNoneMatch.trim() === '*' || tagsOf(ifNoneMatch).some((held) => held.replace(/^W\//, '') === tag);
}

/**
 * @param tag null if what is there has no tag
 * @throws PreconditionFailedError if `If-Match` does not name it (strong comparison)
 */
function assertMatch(ifMatch: string | undefined, tag: string | null): void {
  if (ifMatch === undefined || ifMatch.trim() === '*') {
    return;
  }
  const tags = tagsOf(ifMatch);
  if (tag === null) {
    throw new PreconditionFailedError('The path has no ETag, so only * matches it in If-Match.');
  }
  if (tags.length === 0) {
    throw new PreconditionFailedError(
      'If-Match has no ETag in double quotes, and only such a one can match.',
    );
  }
  if (tags.every((held) => held.startsWith('W/'))) {
    throw new PreconditionFailedError(
      'A weak ETag (W/"…") never matches in If-Match. Send the one of a response that no proxy has compressed.',
    );
  }
  if (!tags.includes(tag)) {
    throw new PreconditionFailedError(
      'The resource has none of the ETags in If-Match. Get it again and send its new ETag.',
    );
  }
}

/**
 * Evaluates the conditions of a read that succeeds.
 * @param tag null if what is there has no tag
 * @returns whether the response is 304
 * @throws PreconditionFailedError
 */
export function isNotModified({ headers }: FastifyRequest, tag: string | null): boolean {
  assertMatch(headers['if-match'], tag);
  return matchesIfNoneMatch(headers['if-none-match'], tag);
}

/**
 * The conditions of a change. Check them while holding the row's lock, against the representation that a GET would return at
 * that moment.
 */
export class Precondition {
  constructor(private readonly headers: Pick<IncomingHttpHeaders, 'if-match' | 'if-none-match'>) {}

  /**
   * @param resource null for a path that has no ETag
   * @throws PreconditionFailedError
   */
  assertHolds(resource: object | null): void {
    const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = this.headers;
    if (ifMatch === undefined && ifNoneMatch === undefined) {
      return;
    }
    const tag = resource && entityTag(JSON.stringify(resource));
    assertMatch(ifMatch, tag);
    if (matchesIfNoneMatch(ifNoneMatch, tag)) {
      throw new PreconditionFailedError(
        ifNoneMatch!.trim() === '*'
          ? 'The resource exists, and If-None-Match: * asks that it does not.'
          : 'The resource has an ETag that If-None-Match excludes.',
      );
    }
  }
}

const EVALUATES = Symbol('evaluates conditions');

/** The operation checks the Precondition of its request. Documents `If-Match`. */
export function IfMatch(): MethodDecorator {
  return applyDecorators(SetMetadata(EVALUATES, true), Documented({ parameters: ['If-Match'] }));
}

/** Whether the handler of a change evaluates its Precondition. */
export function hasPrecondition(handler: object): boolean {
  return Reflect.hasMetadata(EVALUATES, handler);
}
