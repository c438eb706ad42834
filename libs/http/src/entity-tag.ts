import { hash } from 'node:crypto';
import { PreconditionFailedError } from './errors';

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
