// Who is limited: a client with a valid key, or else the address that a request comes from.
import { isIP } from 'node:net';
import { normalizeIp } from '@nestjs/throttler';
import type { Caller } from '../../auth';
import { ADDRESS_LIMITS, limitsOf } from '../rules/plans';
import type { Limits } from '../rules/rate-window';

export interface ClientSubject {
  kind: 'client';
  /** Quotas belong to the client, bans to the key. */
  clientId: number;
  keyId: number;
  limits: Limits;
}

export interface AddressSubject {
  kind: 'address';
  address: string;
  limits: Limits;
}

export type Subject = ClientSubject | AddressSubject;

/** A network of IPv6 addresses that counts as one: what a household or a company is usually given. */
const IPV6_PREFIX = 56;

/** What a proxy may write around an address: a port, and brackets. */
const WITH_PORT = /^(?:\[([^\]]+)\]|(\d+\.\d+\.\d+\.\d+))(?::\d+)?$/;
/** Whatever is no address counts as one, or anything a proxy passes on would be a quota of its own. */
const NO_ADDRESS = 'unknown';

/** An IPv6 address counts as its /56, and an IPv4-mapped one as the IPv4 address it stands for. */
export function addressSubject(ip: string): AddressSubject {
  const address = isIP(ip) === 0 ? withoutPort(ip) : ip;
  return { kind: 'address', address: normalizeIp(address, IPV6_PREFIX), limits: ADDRESS_LIMITS };
}

function withoutPort(text: string): string {
  const [, ipv6, ipv4] = WITH_PORT.exec(text) ?? [];
  const address = ipv6 ?? ipv4 ?? '';
  return isIP(address) === 0 ? NO_ADDRESS : address;
}

export function subjectOf(caller: Caller | undefined, ip: string): Subject {
  if (!caller?.holder) {
    return addressSubject(ip);
  }
  const { holder } = caller;
  return { kind: 'client', clientId: holder.clientId, keyId: holder.keyId, limits: limitsOf(holder) };
}
