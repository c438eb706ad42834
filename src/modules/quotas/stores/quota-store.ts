import { isIP } from 'node:net';
import { normalizeIp } from '@nestjs/throttler';
import type { Caller } from '../../auth';
import type { BanState } from '../rules/ban-rules';
import type { Decision } from '../rules/decision';
import { ADDRESS_LIMITS, limitsOf } from '../rules/plans';
import type { Limits, WindowStanding } from '../rules/rate-window';

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

/** Who is limited: a client with a valid key, or otherwise the IP address. */
export type Subject = ClientSubject | AddressSubject;

export interface Standing {
  standings: WindowStanding[];
  /** The ban state of the key; null for an address. */
  bans: Readonly<BanState> | null;
  /** Unix milliseconds, on the clock of the counter. */
  decidedAt: number;
  /** True if this is this instance's share, because Redis was unavailable. */
  isLocal?: boolean;
}

/** What a refund needs to know. */
export interface Receipt {
  /** Unix milliseconds, on the clock of the counter. */
  takenAt: number;
  /** True if this instance counted the request by its share, because Redis was unavailable. */
  takenLocally?: boolean;
}

export type Taken = Decision & Receipt;

/**
 * Counts requests. Every method is one atomic step on the subject's windows and bans. It returns a promise only if it
 * must: a promise costs more than the counting.
 */
export abstract class QuotaStore {
  /** True while this instance allows only its share of the limits, because Redis is unavailable. */
  isDegraded(): boolean {
    return false;
  }

  /** Calls the listener whenever `isDegraded` changes. */
  onDegraded(listener: () => void): void {
    void listener;
  }

  /** Takes one request from both windows or from neither, and applies strikes and bans. */
  abstract take(subject: Subject): Taken | Promise<Taken>;
  /** Refunds a request; returns the subject's standing after it. */
  abstract refund(subject: Subject, taken: Receipt): Standing | Promise<Standing>;
  /** Reloads the ban of a key, or all bans, from the database after a change elsewhere. */
  abstract reloadBans(keyId?: number): Promise<void>;
  /** Applies the reset of a client, or all recent resets. */
  abstract reloadResets(clientId?: number): Promise<void>;
  /** Reloads all daily counts from the database: others may have counted in the meantime. */
  abstract reloadDays(): Promise<void>;
  /** The subject's standing. Read-only. */
  abstract look(subject: Subject): Standing | Promise<Standing>;
  /** Writes pending counts; false if not all could be written. Never rejects. */
  abstract flush(): Promise<boolean>;
}

/** IPv6 addresses count by /56, which is what a household or a company usually gets. */
const IPV6_PREFIX = 56;

/** Proxies may add a port and brackets. */
const WITH_PORT = /^(?:\[([^\]]+)\]|(\d+\.\d+\.\d+\.\d+))(?::\d+)?$/;
/** All invalid addresses share one quota; otherwise each text that a proxy forwards would get its own. */
const NO_ADDRESS = 'unknown';

export function subjectOf(caller: Caller | undefined, ip: string): Subject {
  if (!caller?.holder) {
    return addressSubject(ip);
  }
  const { holder } = caller;
  return { kind: 'client', clientId: holder.clientId, keyId: holder.keyId, limits: limitsOf(holder) };
}

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
