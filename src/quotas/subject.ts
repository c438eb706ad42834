// Who is limited: a client with a valid key, or else the address that a request comes from.
import { normalizeIp } from '@nestjs/throttler';
import type { Caller } from '../auth';
import { ADDRESS_LIMITS, limitsOf } from './plans';
import type { Limits } from './rate-window';

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

/** An IPv6 address counts as its /56, and an IPv4-mapped one as the IPv4 address it stands for. */
export function addressSubject(ip: string): AddressSubject {
  return { kind: 'address', address: normalizeIp(ip, IPV6_PREFIX), limits: ADDRESS_LIMITS };
}

export function subjectOf(caller: Caller | undefined, ip: string): Subject {
  if (!caller?.holder) {
    return addressSubject(ip);
  }
  const { holder } = caller;
  return { kind: 'client', clientId: holder.clientId, keyId: holder.keyId, limits: limitsOf(holder) };
}
