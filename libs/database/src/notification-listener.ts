import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Client, type QueryResult } from 'pg';
import { RepeatingTask } from '#libs/clock';

/** The URL of the database, for code that needs its own connection. The command line knows it once it opens the database. */
export class DatabaseUrl {
  constructor(public value: string) {}
}

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
/** First pause before connecting again; doubles up to 16 times that. */
const RETRY_MS = 250;
const CONNECT_MS = 5_000;

/**
 * Listens to channels of PostgreSQL (LISTEN/NOTIFY) for the whole process, on one connection of its own that opens with the
 * first subscription. Connects again when it is lost.
 */
@Injectable()
export class NotificationListener implements OnApplicationShutdown {
  private readonly subscriptions = new Set<Subscription>();
  /** Those that the current session listens for. */
  private readonly active = new Set<Subscription>();
  private client: Client | null = null;
  private failures = 0;
  private isClosed = false;
  private readonly task = new RepeatingTask({
    name: 'Listening to the database',
    work: () => this.check(),
    everyMs: () => (this.failures === 0 ? PULSE_MS : RETRY_MS * 2 ** Math.min(this.failures - 1, 4)),
  });

  constructor(private readonly url: DatabaseUrl) {}

  /** False while no notifications arrive. */
  get listening(): boolean {
    return this.active.size > 0;
  }

  /**
   * Subscribes until the returned function is called. Resolves after the first attempt, whether it succeeded or not;
   * further attempts follow automatically.
   */
  async subscribe(subscription: Subscription): Promise<() => Promise<void>> {
    this.subscriptions.add(subscription);
    await this.task.start().runNow();
    return () => this.unsubscribe(subscription);
  }

  /** Late in the shutdown, because requests in flight still depend on notifications. */
  async onApplicationShutdown(): Promise<void> {
    this.isClosed = true;
    this.active.clear();
    void this.task.stop();
    await this.client?.end().catch(() => undefined);
  }

  private async unsubscribe(subscription: Subscription): Promise<void> {
    this.subscriptions.delete(subscription);
    if (this.active.delete(subscription)) {
      const needed = [...this.subscriptions].flatMap(({ channels }) => channels);
      const ended = subscription.channels.filter((channel) => !needed.includes(channel));
      await this.client?.query(statements('UNLISTEN', ended)).catch(() => undefined);
    }
  }

  /** Connects if necessary, listens to new channels, and asks whether the connection still works. */
  private async check(): Promise<void> {
    this.client ??= await this.connect();
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
      const begun = added.filter((subscription) => this.subscriptions.has(subscription));
      begun.forEach((subscription) => this.active.add(subscription));
      begun.forEach(({ onState }) => onState?.(true));
    }
  }

  private async listenAndAsk(client: Client, added: readonly Subscription[]): Promise<void> {
    for (const { channels, setUp } of added) {
      await client.query(`${statements('LISTEN', channels)}; ${setUp ?? ''}`);
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
      connectionString: this.url.value,
      keepAlive: true,
      connectionTimeoutMillis: CONNECT_MS,
    });
    client.on('notification', ({ payload = '', channel }) => {
      const wanted = [...this.active].filter(({ channels }) => channels.includes(channel));
      wanted.forEach(({ onNotification }) => onNotification(payload, channel));
    });
    client.on('error', () => this.lose(client));
    client.on('end', () => this.lose(client));
    try {
      await client.connect();
    } catch (error) {
      this.failures += 1;
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
function statements(verb: 'LISTEN' | 'UNLISTEN', channels: readonly string[]): string {
  return channels.map((channel) => `${verb} "${channel}"`).join('; ');
}

/** @throws Error if the work takes longer */
async function within(milliseconds: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      // A reply may have arrived while this process was busy: read it first.
      setImmediate(() => reject(new Error(`The database has not answered for ${milliseconds} ms.`)));
    }, milliseconds).unref();
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
