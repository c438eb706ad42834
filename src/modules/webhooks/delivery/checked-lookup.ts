import { type LookupAddress, promises as dns } from 'node:dns';
import type { LookupFunction } from 'node:net';
import type { AddressPolicy } from './address-policy';

const DNS_TIMEOUT_MS = 2_000;
const DNS_TRIES = 2;

/** None of the addresses of a name may be connected to. */
export class ForbiddenAddressError extends Error {
  readonly code = 'EFORBIDDEN';
}

/** All addresses of a name. */
export type Resolve = (name: string) => Promise<LookupAddress[]>;

/**
 * Asks the name servers, and not the operating system: its look-up waits in one of four threads that the whole process
 * shares, and names whose servers never answer would hold them all.
 */
export function resolveByDns(): Resolve {
  const resolver = new dns.Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES });
  return async (name) => {
    const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = [
      ...(four.status === 'fulfilled' ? four.value.map((address) => ({ address, family: 4 })) : []),
      ...(six.status === 'fulfilled' ? six.value.map((address) => ({ address, family: 6 })) : []),
    ];
    if (addresses.length === 0) {
      throw (four as PromiseRejectedResult).reason;
    }
    return addresses;
  };
}

/**
 * The look-up of a connection about to be made. Only what it answers is connected to, so a name that leads elsewhere a
 * moment later gains nothing.
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
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
}
