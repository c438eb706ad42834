// Looks up host names without `dns.lookup`, because a few names whose servers never answer would block Node's thread
// pool.
import { type LookupAddress, promises as dns } from 'node:dns';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type AddressPolicy, localAddresses } from './address-policy';

const HOSTS = process.platform === 'win32' ? 'C:\\Windows\\System32\\drivers\\etc\\hosts' : '/etc/hosts';
const QUERY = { timeout: 2_000, tries: 2 };
/**
 * Timeout of all queries for a name. Shorter than the timeout of an attempt, so that the error names the lookup and not the
 * receiver.
 */
const LOOKUP_MS = 8_000;
/**
 * How long to wait for the IPv6 addresses after the IPv4 addresses have arrived, or the other way round (RFC 8305,
 * section 3).
 */
const OTHER_FAMILY_MS = 50;
const MAX_ADDRESSES_PER_FAMILY = 2;
/** Codes of errors that mean that the name has no address. Other codes mean that a name server failed. */
const NOT_FOUND = ['ENOTFOUND', 'ENODATA', 'EBADNAME'];

/** Finds all addresses of a name. Rejects with the code ENOTFOUND if the name has none, or ELOOKUP if a name server failed. */
export type FindAddresses = (name: string) => Promise<LookupAddress[]>;

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
 * Returns the addresses that a new connection may use. The connection must use one of these addresses instead of the
 * name, because a second lookup of the name could return a forbidden address.
 * @param host a name or an address
 * @throws Error with the code EFORBIDDEN if no address is allowed
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
    .flatMap((one) => allowed.filter(({ family }) => family === one).slice(0, MAX_ADDRESSES_PER_FAMILY))
    .map(({ address }) => address);
}

export function errorWithCode(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(code), { code });
}

async function query(resolver: dns.Resolver, name: string): Promise<LookupAddress[]> {
  const found: LookupAddress[] = [];
  const families = ([4, 6] as const).map(async (family) => {
    const addresses = await (family === 4 ? resolver.resolve4(name) : resolver.resolve6(name));
    if (addresses.length === 0) {
      throw errorWithCode('ENODATA');
    }
    found.push(...addresses.map((address) => ({ address, family })));
  });
  await Promise.any(families);
  await Promise.race([Promise.allSettled(families), pause(OTHER_FAMILY_MS)]);
  return [...found];
}

/** Returns the names to look up, including those in the search domains, in the order that resolv.conf(5) defines. */
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

function wordsOf(file: string): string[][] {
  try {
    // Read synchronously, because Node's few threads for asynchronous reads may all be busy.
    const lines = readFileSync(file, 'latin1').toLowerCase().split('\n');
    return lines.map((line) => line.replace(/[#;].*/, '').match(/\S+/g) ?? []);
  } catch {
    return [];
  }
}
