import type { Agent } from 'node:http';
import type { LookupFunction, Socket } from 'node:net';
import { hostOf } from './address-policy';

/** Connections to one host, of all processes of the service together. */
export const MAX_TO_HOST = 64;

/** All connections to a host that are allowed are in use. */
export class HostBusyError extends Error {
  readonly code = 'EHOSTBUSY';
}

/**
 * Bounds the connections of this process to one host over all webhooks. A host is an address, or an IPv6 network of 64 bits,
 * whatever the names and ports that lead to it.
 */
export class HostConnections {
  private readonly open = new Map<string, number>();

  /** @param most connections to one host */
  constructor(private readonly most = MAX_TO_HOST) {}

  /** Makes an agent respect the bound. @param lookup that of the agent's connections */
  bind<Kind extends Agent>(agent: Kind, lookup: LookupFunction): Kind {
    const connect = agent.createConnection.bind(agent);
    const keepAlive = agent.keepSocketAlive.bind(agent);
    agent.createConnection = (options, callback) => {
      const slot = new Slot(this.open, this.most);
      const { host } = options as { host: string };
      // `lookup` is not called for an IP address.
      if (hostOf(host) !== undefined && slot.reserve([host]).length === 0) {
        callback?.(new HostBusyError(), undefined as never);
        return undefined;
      }
      const socket = connect({ ...options, lookup: slot.lookup(lookup) }, callback) as Socket;
      socket.once('connect', () => slot.keepOnly(socket.remoteAddress));
      socket.once('close', () => slot.release());
      return socket;
    };
    // Idle connections leave room for others.
    agent.keepSocketAlive = (socket) => {
      const host = hostOf((socket as Socket).remoteAddress ?? '');
      return (this.open.get(host ?? '') ?? 0) <= this.most / 2 && Boolean(keepAlive(socket));
    };
    return agent;
  }
}

/** The hosts that a connection may lead to: those of all addresses until it is established. */
class Slot {
  private hosts: string[] = [];

  constructor(
    private readonly open: Map<string, number>,
    private readonly most: number,
  ) {}

  /** @returns the addresses whose hosts have room, which they now occupy */
  reserve(addresses: readonly string[]): string[] {
    const free = addresses.filter((address) => (this.open.get(hostOf(address)!) ?? 0) < this.most);
    this.hosts = [...new Set(free.map((address) => hostOf(address)!))];
    this.hosts.forEach((host) => this.open.set(host, (this.open.get(host) ?? 0) + 1));
    return free;
  }

  keepOnly(address: string | undefined): void {
    const kept = hostOf(address ?? '');
    this.releaseAll(this.hosts.filter((host) => host !== kept));
    this.hosts = this.hosts.filter((host) => host === kept);
  }

  release(): void {
    this.releaseAll(this.hosts);
    this.hosts = [];
  }

  /** Looks up as `lookup`, and returns only addresses with room. */
  lookup(lookup: LookupFunction): LookupFunction {
    return (name, options, callback) =>
      lookup(name, { ...options, all: true }, (error, found) => {
        const addresses = Array.isArray(found) ? found : [];
        const free = error === null ? this.reserve(addresses.map(({ address }) => address)) : [];
        const usable = addresses.filter(({ address }) => free.includes(address));
        if (usable.length === 0) {
          callback(error ?? new HostBusyError(), []);
        } else if (options.all === true) {
          callback(null, usable);
        } else {
          callback(null, usable[0]!.address, usable[0]!.family);
        }
      });
  }

  private releaseAll(hosts: readonly string[]): void {
    for (const host of hosts) {
      const left = this.open.get(host)! - 1;
      if (left === 0) {
        this.open.delete(host);
      } else {
        this.open.set(host, left);
      }
    }
  }
}
