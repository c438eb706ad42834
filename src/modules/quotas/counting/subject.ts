// The subject of limits: a client with a valid key, or otherwise the IP address.
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

/** IPv6 addresses count by /56, which is what a household or a company usually gets. */
const IPV6_PREFIX = 56;

/** Proxies may add a port and brackets. */
const WITH_PORT = /^(?:\[([^\]]+)\]|(\d+\.\d+\.\d+\.\d+))(?::\d+)?$/;
/** All invalid addresses share one quota; otherwise each text that a proxy forwards would get its own. */
const NO_ADDRESS = 'unknown';

/** An IPv6 address counts by its /56, an IPv4-mapped one as its IPv4 address. */
export function addressSubject(ip: string): AddressSubject {
  const address = isIP(ip) === 0 ? withoutPort(ip) : ip;
  return { kind: 'address', address: normalizeIp(address, IPV6_PREFIX), limits: ADDRESS_LIMITS };
}

/**
 * The sender of what could not be read as a request. Behind a proxy it names no caller, and is counted apart from the requests
 * that have the proxy's address.
 */
export function unreadableSubject(ip: string, isBehindProxy: boolean): AddressSubject {
  const subject = addressSubject(ip);
  return isBehindProxy ? { ...subject, address: `unreadable from ${subject.address}` } : subject;
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
