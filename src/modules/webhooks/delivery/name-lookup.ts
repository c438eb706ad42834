// Looks names up as this machine knows them, but not by the operating system's lookup: that blocks one of the process's four
// threads, which files and cryptography need as well, and a few names whose servers never answer would block them all. So
// hosts file and search domains are read here, and name servers are asked without a thread. All of it is read anew for each
// lookup, so that a change counts at once.
import { type LookupAddress, promises as dns } from 'node:dns';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type AddressPolicy, localAddresses } from './address-policy';

const HOSTS = process.platform === 'win32' ? 'C:\\Windows\\System32\\drivers\\etc\\hosts' : '/etc/hosts';
const QUERY = { timeout: 2_000, tries: 2 };
/** For all queries of a lookup. An attempt has longer, so that silent name servers are not mistaken for a silent receiver. */
const LOOKUP_MS = 8_000;
/** How long the second family may answer after the first (RFC 8305, section 3). */
const OTHER_FAMILY_MS = 50;
/** Addresses of each family that one attempt tries. */
const MAX_ADDRESSES = 2;
/** These say that the name has no address; all others that a name server has failed. */
const NOT_FOUND = ['ENOTFOUND', 'ENODATA', 'EBADNAME'];

/** All addresses of a name. Rejects with the code ENOTFOUND or ELOOKUP. */
export type FindAddresses = (name: string) => Promise<LookupAddress[]>;

/** The parameters replace the machine's in tests. */
export function systemLookup(
  hostsFile = HOSTS,
  resolverFile = '/etc/resolv.conf',
  newResolver = () => new dns.Resolver(QUERY),
): FindAddresses {
  return async (name) => {
    const entries = wordsOf(hostsFile).filter((words) => words.slice(1).includes(name.replace(/\.$/, '')));
    const known = localAddresses(name) ?? entries.map(([address = '']) => address).filter(isIP);
    if (known.length > 0) {
      return known.map((address) => ({ address, family: isIP(address) }));
    }
    const resolver = newResolver();
    const deadline = AbortSignal.timeout(LOOKUP_MS);
    deadline.addEventListener('abort', () => resolver.cancel());
    const failures: NodeJS.ErrnoException[] = [];
    for (const candidate of candidatesFor(name, wordsOf(resolverFile))) {
      try {
        return await query(resolver, candidate);
      } catch (error) {
        failures.push(...((error as AggregateError).errors as NodeJS.ErrnoException[]));
      }
      if (deadline.aborted) {
        break;
      }
    }
    throw errorWithCode(failures.every(({ code }) => NOT_FOUND.includes(code!)) ? 'ENOTFOUND' : 'ELOOKUP');
  };
}

/**
 * The addresses that a new connection may try. The connection does not look up the name again, which prevents DNS rebinding.
 * Rejects with the code EFORBIDDEN if no address is allowed.
 * @param host a name or an address
 */
export async function allowedAddresses(
  host: string,
  find: FindAddresses,
  policy: AddressPolicy,
  protocol: string,
): Promise<string[]> {
  const found = isIP(host) ? [{ address: host, family: isIP(host) }] : await find(host);
  const allowed = found.filter(({ address }) => policy.allows(address, protocol));
  if (allowed.length === 0) {
    throw errorWithCode('EFORBIDDEN');
  }
  return [4, 6]
    .flatMap((one) => allowed.filter(({ family }) => family === one).slice(0, MAX_ADDRESSES))
    .map(({ address }) => address);
}

export function errorWithCode(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(code), { code });
}

/** Asks for both families. Rejects with the errors of both if neither has an address. */
async function query(resolver: dns.Resolver, name: string): Promise<LookupAddress[]> {
  const found: LookupAddress[] = [];
  const families = ([4, 6] as const).map(async (family) => {
    const addresses = await (family === 4 ? resolver.resolve4(name) : resolver.resolve6(name));
    if (addresses.length === 0) {
      // The name is an alias of one without addresses.
      throw errorWithCode('ENODATA');
    }
    found.push(...addresses.map((address) => ({ address, family })));
  });
  await Promise.any(families);
  await Promise.race([Promise.allSettled(families), pause(OTHER_FAMILY_MS)]);
  return [...found];
}

/** The names to ask for, in order, as resolv.conf(5) says: with fewer dots than `ndots`, first below the search domains. */
function candidatesFor(name: string, configuration: string[][]): string[] {
  const domains = configuration.findLast(([keyword]) => keyword === 'search' || keyword === 'domain') ?? [];
  const options = configuration.filter(([keyword]) => keyword === 'options').join();
  const [, enoughDots = '1'] = /\bndots:(\d+)/.exec(options) ?? [];
  const below = domains.slice(1).map((domain) => `${name}.${domain}`);
  if (name.endsWith('.')) {
    return [name];
  }
  return name.split('.').length > Number(enoughDots) ? [name, ...below] : [...below, name];
}

/** The words of each line of a file, in lower case, without comments; none if it cannot be read. */
function wordsOf(file: string): string[][] {
  try {
    // Synchronously, because other reads use the shared threads.
    const lines = readFileSync(file, 'latin1').toLowerCase().split('\n');
    return lines.map((line) => line.replace(/[#;].*/, '').match(/\S+/g) ?? []);
  } catch {
    return [];
  }
}
