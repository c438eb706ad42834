import { type LookupAddress, promises as dns } from 'node:dns';
import type { LookupFunction } from 'node:net';
import type { AddressPolicy } from './address-policy';

const DNS_TIMEOUT_MS = 2_000;
const DNS_TRIES = 2;

/** A name has no address that may be connected to. */
export class ForbiddenAddressError extends Error {
  readonly code = 'EFORBIDDEN';
}

/** A name exists, but has no address. */
export class NoAddressError extends Error {
  readonly code = 'ENODATA';
}

/** All addresses of a name. */
export type Resolve = (name: string) => Promise<LookupAddress[]>;

/**
 * Queries the name servers directly. The operating system's lookup blocks one of the process's four threads, and a few
 * names whose servers never answer would block them all.
 */
export function resolveByDns(
  resolver = new dns.Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES }),
): Resolve {
  return async (name) => {
    const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = [
      ...(four.status === 'fulfilled' ? four.value.map((address) => ({ address, family: 4 })) : []),
      ...(six.status === 'fulfilled' ? six.value.map((address) => ({ address, family: 6 })) : []),
    ];
    if (addresses.length === 0) {
      // A name can be an alias of one without addresses; both queries then succeed with none.
      throw four.status === 'rejected' ? four.reason : new NoAddressError();
    }
    return addresses;
  };
}

/**
 * The lookup for a new connection, which connects only to the addresses it returns. This prevents DNS rebinding.
 */
export function checkedLookup(resolve: Resolve, policy: AddressPolicy, protocol: string): LookupFunction {
  return (name, { all }, callback) => {
    resolve(name).then(
      (found) => {
        const allowed = found.filter(({ address }) => policy.allows(address, protocol));
        if (allowed.length === 0) {
          callback(new ForbiddenAddressError(), []);
        } else if (all === true) {
          callback(null, allowed);
        } else {
          callback(null, allowed[0]!.address, allowed[0]!.family);
        }
      },
      // Without an error, the caller would take this for a success.
      (error: unknown) => callback(error instanceof Error ? error : new NoAddressError(), []),
    );
  };
}
