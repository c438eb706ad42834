import { Client, type QueryResult } from 'pg';

export interface NotificationListenerOptions {
  url: string;
  channels: string[];
  onNotification: (payload: string, channel: string) => void;
  /** Called when listening starts (true) and when it is lost (false). Notifications in between are missed. */
  onState: (listening: boolean) => void;
  /** Runs once in each session, before it listens. */
  setUp?: string;
  /** Sent when listening starts, and then about three times a second to check the connection. */
  pulse?: { sql: string; onAnswer: (answer: QueryResult) => void };
}

/**
 * A connection can be dead for hours without an error (a partition, a failover). It is checked at this interval and
 * closed if the check takes longer than this: well under a second in total.
 */
const PULSE_MS = 300;
const ANSWER_MS = 400;
/** First pause before listening again; doubles up to 16 times that. */
const RETRY_MS = 250;

/** Listens to channels of PostgreSQL (LISTEN/NOTIFY) on a connection of its own, and reconnects when that is lost. */
export class NotificationListener {
  private client: Client | null = null;
  private retry: NodeJS.Timeout | null = null;
  private pulse: NodeJS.Timeout | null = null;
  private failures = 0;
  private closed = false;
  private state = false;

  constructor(private readonly options: NotificationListenerOptions) {}

  get listening(): boolean {
    return this.state;
  }

  /** Resolves after the first attempt, whether it succeeded or not; further attempts follow automatically. */
  async start(): Promise<void> {
    const client = new Client({
      connectionString: this.options.url,
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
    });
    this.client = client;
    client.on('notification', ({ payload, channel }) => this.options.onNotification(payload ?? '', channel));
    client.on('error', () => this.lost(client));
    client.on('end', () => this.lost(client));
    try {
      await client.connect();
      const listen = this.options.channels.map((channel) => `LISTEN ${client.escapeIdentifier(channel)}`);
      const { setUp = [] } = this.options;
      await client.query(listen.concat(setUp).join('; '));
      await this.ask(client);
      this.failures = 0;
      this.changeState(true);
      this.feelPulse(client);
    } catch {
      this.lost(client);
    }
  }

  async close(): Promise<void> {
    this.closed = true;
    clearTimeout(this.retry ?? undefined);
    clearTimeout(this.pulse ?? undefined);
    this.changeState(false);
    await this.client?.end().catch(() => undefined);
  }

  private async ask(client: Client): Promise<void> {
    const { sql = 'SELECT 1', onAnswer } = this.options.pulse ?? {};
    const answer = await client.query(sql);
    onAnswer?.(answer);
  }

  private feelPulse(client: Client): void {
    this.pulse = setTimeout(() => {
      // A reply may have arrived while this process was busy: read it before giving up the connection.
      const deadline = setTimeout(() => setImmediate(() => answered || this.lost(client)), ANSWER_MS);
      deadline.unref();
      let answered = false;
      const settle = (): void => {
        answered = true;
        clearTimeout(deadline);
      };
      this.ask(client).then(
        () => {
          settle();
          if (client === this.client && !this.closed) {
            this.feelPulse(client);
          }
        },
        () => {
          settle();
          this.lost(client);
        },
      );
    }, PULSE_MS);
    this.pulse.unref();
  }

  private lost(client: Client): void {
    if (client !== this.client) {
      return;
    }
    this.client = null;
    clearTimeout(this.pulse ?? undefined);
    client.end().catch(() => undefined);
    this.changeState(false);
    if (!this.closed) {
      const pause = RETRY_MS * 2 ** Math.min(this.failures, 4);
      this.failures += 1;
      this.retry = setTimeout(() => void this.start(), pause);
      this.retry.unref();
    }
  }

  private changeState(listening: boolean): void {
    if (this.state !== listening) {
      this.state = listening;
      // A closed listener reports nothing.
      if (!this.closed) {
        this.options.onState(listening);
      }
    }
  }
}
