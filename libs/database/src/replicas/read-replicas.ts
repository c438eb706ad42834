import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { ObservedServer } from './observed-server';
import { RecentWrites } from './recent-writes';
import { MAX_LAG_MS, Replica } from './replica';
import { WalHistory } from './wal-history';

const OBSERVE_EVERY_MS = 250;
/** A server that has fallen silent must not hold up the end of the process. */
const CLOSE_MS = 500;

export interface ReadReplicasOptions {
  /** The primary, which has the last word on how old a replica is. */
  primaryUrl: string;
  /** Each of them leads to one server. */
  urls: readonly string[];
  /** The most connections to each. */
  poolSize: number;
}

export interface ReplicaState {
  name: string;
  inUse: boolean;
  /** How old what it answers may be at most, in seconds; infinite while nothing is known of it. */
  lagSeconds: number;
}

/**
 * Standbys of the primary that lists are read from. The primary is asked four times a second how far its log is, and then
 * each replica how far it has replayed it. That tells of which moment, on this process's own clock, a replica knows all
 * that was committed: it is used while that is less than a second ago, and for a session that has written, after its last write.
 */
export class ReadReplicas implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(ReadReplicas.name);
  private readonly primary: ObservedServer;
  private readonly replicas: Replica[];
  private readonly history = new WalHistory();
  private readonly writes = new RecentWrites(MAX_LAG_MS);
  private readonly sessions = new AsyncLocalStorage<() => number | undefined>();
  private readonly stopped = new AbortController();
  private identity = '';
  /** How many lists were read where, since the start. */
  readonly reads = { primary: 0, replica: 0 };

  constructor({ primaryUrl, urls, poolSize }: ReadReplicasOptions) {
    this.primary = new ObservedServer(primaryUrl, () => undefined);
    const onChange = (name: string, reason: string | null): void => this.tell(name, reason);
    this.replicas = urls.map(
      (url, index) => new Replica({ url, poolSize, onChange, name: nameOf(url, index) }),
    );
  }

  /** A start does not wait for replicas: until they are known, lists are read from the primary. */
  onModuleInit(): void {
    void this.observeUntilStopped();
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopped.abort();
    const closed = Promise.allSettled([this.primary, ...this.replicas].map((server) => server.close()));
    await Promise.race([closed, pause(CLOSE_MS, undefined, { ref: false })]);
  }

  get states(): ReplicaState[] {
    const now = performance.now();
    return this.replicas.map((replica) => ({
      name: replica.name,
      inUse: replica.isUsable(now),
      lagSeconds: (now - replica.freshAsOf) / 1_000,
    }));
  }

  /**
   * Runs work, and what it starts, on behalf of a session, which finds in its lists what it has written.
   * @param session asked when a list is read; undefined for nobody, who reads from the primary
   */
  onBehalfOf(session: () => number | undefined, work: () => void): void {
    this.sessions.run(session, work);
  }

  /** To be called when a session's write has been committed, before it learns of it. */
  hasWritten(session: number): void {
    this.writes.add(session, performance.now());
  }

  /** A replica that knows all that the present session has written; null when the primary is to be asked. */
  choose(): Replica | null {
    const session = this.sessions.getStore()?.();
    const chosen = session === undefined ? null : this.chooseFor(session);
    this.reads[chosen === null ? 'primary' : 'replica'] += 1;
    return chosen;
  }

  /** A session stays with one replica while it can, so that what it has seen there does not vanish again. */
  private chooseFor(session: number): Replica | null {
    const now = performance.now();
    const lastWrite = this.writes.lastOf(session);
    const usable = this.replicas.filter((replica) => replica.isUsable(now) && replica.freshAsOf > lastWrite);
    return usable[session % usable.length] ?? null;
  }

  private async observeUntilStopped(): Promise<void> {
    const { signal } = this.stopped;
    while (!signal.aborted) {
      await this.observe();
      await pause(OBSERVE_EVERY_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  private async observe(): Promise<void> {
    const at = performance.now();
    this.writes.forgetOld(at);
    try {
      const { position, identity } = await this.primary.observe();
      const isFirst = identity !== this.identity;
      if (isFirst) {
        this.history.clear();
        this.identity = identity;
      }
      this.history.add(at, position);
      if (isFirst) {
        // Under steady writes a replica is always a little behind the last answer, and there is no other to compare with.
        return;
      }
    } catch {
      // Nobody can say how old a replica is while the primary is silent; after a second none of them is read.
      const now = performance.now();
      this.replicas.forEach((replica) => replica.judge(now));
      return;
    }
    // Not waited for: one that is slow must not make the others look old.
    this.replicas.forEach((replica) => void replica.observe(this.history, this.identity));
  }

  private tell(name: string, reason: string | null): void {
    if (reason === null) {
      this.logger.log(`Lists are read from the replica ${name}.`);
    } else {
      this.logger.warn(`Lists are not read from the replica ${name}: ${reason}.`);
    }
  }
}

/** Without user and password, which the URL may hold. */
function nameOf(url: string, index: number): string {
  return new URL(url).host || `number ${index + 1}`;
}
