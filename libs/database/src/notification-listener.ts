import { randomUUID } from 'node:crypto';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { Client, type QueryResult } from 'pg';
import type { DataSource } from 'typeorm';
import { RepeatingTask } from '#libs/clock';

export interface Subscription {
  channels: readonly string[];
  onNotification: (payload: string, channel: string) => void;
  /** Called when listening starts (true) and when it is lost (false). Notifications in between are missed. */
  onState?: (listening: boolean) => void;
  /** SQL that runs once in each session, before it listens. */
  setUp?: string;
  /** Sent when listening starts, and then about three times a second. */
  pulse?: { sql: string; onAnswer: (answer: QueryResult) => void };
}

/**
 * A connection can be dead for hours without an error (a partition, a failover). It is checked at this interval and
 * closed if the check takes longer than this: well under a second in total.
 */
const PULSE_MS = 300;
const ANSWER_MS = 400;
/** The connection may hear another server than the one that the pool writes to. Checked at this interval, and given up after this. */
const PROOF_MS = 1_000;
const HEARD_MS = 1_000;
/** First pause before connecting again; doubles up to 16 times that. */
const RETRY_MS = 250;
const CONNECT_MS = 5_000;

/** A notification that was sent through the pool did not reach the connection that listens. */
export class UnheardNotificationError extends Error {
  constructor() {
    super('Notifications sent by this process do not reach its connection that listens.');
  }
}

/**
 * Listens to channels of PostgreSQL (LISTEN/NOTIFY) for the whole process, on one connection of its own that opens with the
 * first subscription. Connects again when it is lost, and when a notification sent through the pool is not heard: behind a
 * pooler, or after a failover, the two may end at different servers.
 */
@Injectable()
export class NotificationListener implements OnApplicationShutdown {
  private readonly subscriptions = new Set<Subscription>();
  /** Those that the current session listens for. */
  private readonly active = new Set<Subscription>();
  private client: Client | null = null;
  private failures = 0;
  private isClosed = false;
  private hasHeard = false;
  private lastFailure: unknown;
  private readonly proofChannel = `heard_${randomUUID()}`;
  /** Called with the proofs that are heard. */
  private readonly awaited = new Map<string, () => void>();
  private nextProofAt = 0;
  private readonly task = new RepeatingTask({
    name: 'Listening to the database',
    work: () => this.check(),
    everyMs: () => (this.failures === 0 ? PULSE_MS : RETRY_MS * 2 ** Math.min(this.failures - 1, 4)),
  });

  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** False while no notifications arrive. */
  get listening(): boolean {
    return this.active.size > 0;
  }

  /**
   * Subscribes for the life of the process. Resolves after the first attempt, whether it succeeded or not; further
   * attempts follow automatically.
   * @throws UnheardNotificationError if this process connected, but has never heard what it sent
   */
  async subscribe(subscription: Subscription): Promise<void> {
    this.subscriptions.add(subscription);
    await this.task.start().runNow();
    if (!this.hasHeard && this.lastFailure instanceof UnheardNotificationError) {
      throw this.lastFailure;
    }
  }

  /** Late in the shutdown, because requests in flight still depend on notifications. */
  async onApplicationShutdown(): Promise<void> {
    this.isClosed = true;
    this.active.clear();
    void this.task.stop();
    await this.client?.end().catch(() => undefined);
  }

  /** Connects if necessary, listens to new channels, and asks whether the connection still works. */
  private async check(): Promise<void> {
    try {
      this.client ??= await this.connect();
    } catch (error) {
      this.failures += 1;
      this.lastFailure = error;
      throw error;
    }
    const { client } = this;
    const added = [...this.subscriptions].filter((subscription) => !this.active.has(subscription));
    try {
      await within(added.length > 0 ? CONNECT_MS : ANSWER_MS, this.listenAndAsk(client, added));
    } catch (error) {
      this.lose(client);
      throw error;
    }
    if (client === this.client) {
      this.failures = 0;
      added.forEach((subscription) => this.active.add(subscription));
      added.forEach(({ onState }) => onState?.(true));
    }
    if (performance.now() > this.nextProofAt) {
      // In the background, because all connections of the pool may be busy.
      this.nextProofAt = Infinity;
      this.prove(HEARD_MS)
        .catch((error: unknown) => error instanceof UnheardNotificationError && this.lose(client))
        .finally(() => (this.nextProofAt = performance.now() + PROOF_MS));
    }
  }

  /**
   * Sends a notification as the rest of the process does, and waits until the connection that listens hears it.
   * @throws UnheardNotificationError; what the driver throws if it cannot be sent
   */
  private async prove(patienceMs: number): Promise<void> {
    const proof = randomUUID();
    const heard = new Promise<void>((resolve) => this.awaited.set(proof, resolve));
    try {
      // Nobody needs it after a crash: the commit does not wait for the disk.
      await this.dataSource.query(`SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, $2)`, [
        this.proofChannel,
        proof,
      ]);
      await within(patienceMs, heard, () => new UnheardNotificationError());
    } finally {
      this.awaited.delete(proof);
    }
  }

  private async listenAndAsk(client: Client, added: readonly Subscription[]): Promise<void> {
    for (const { channels, setUp } of added) {
      await client.query(`${listenTo(channels)}; ${setUp ?? ''}`);
    }
    const pulses = [...this.active, ...added].flatMap(({ pulse }) => pulse ?? []);
    if (pulses.length === 0) {
      await client.query('SELECT 1');
    }
    for (const { sql, onAnswer } of pulses) {
      onAnswer(await client.query(sql));
    }
  }

  private async connect(): Promise<Client> {
    const client = new Client({
      connectionString: (this.dataSource.options as { url?: string }).url,
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_MS,
    });
    client.on('notification', ({ payload = '', channel }) => {
      this.awaited.get(payload)?.();
      const wanted = [...this.active].filter(({ channels }) => channels.includes(channel));
      wanted.forEach(({ onNotification }) => onNotification(payload, channel));
    });
    client.on('error', () => this.lose(client));
    client.on('end', () => this.lose(client));
    await client.connect();
    try {
      // First of all and alone: behind a pooler, other statements may hear it by chance, and what they set up would stay there.
      await client.query(listenTo([this.proofChannel]));
      await this.prove(CONNECT_MS);
      this.hasHeard = true;
      this.nextProofAt = performance.now() + PROOF_MS;
    } catch (error) {
      client.end().catch(() => undefined);
      throw error;
    }
    if (this.isClosed) {
      await client.end();
    }
    return client;
  }

  private lose(client: Client): void {
    if (client === this.client) {
      this.client = null;
      this.failures += 1;
      const lost = [...this.active];
      this.active.clear();
      lost.forEach(({ onState }) => onState?.(false));
      client.end().catch(() => undefined);
    }
  }
}

/** One statement for each channel. */
function listenTo(channels: readonly string[]): string {
  return channels.map((channel) => `LISTEN "${channel}"`).join('; ');
}

/** @throws the error of `late` if the work takes longer */
async function within(
  milliseconds: number,
  work: Promise<void>,
  late = () => new Error(`The database has not answered for ${milliseconds} ms.`),
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const end = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      // A reply may have arrived while this process was busy: read it first.
      setImmediate(() => reject(late()));
    }, milliseconds).unref();
  });
  try {
    await Promise.race([work, end]);
  } finally {
    clearTimeout(timer);
  }
}
