import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { Order } from '../../../support/builders';
import { within } from '../../../support/eventually';
import { send } from '../../../support/service-process';

const WORKERS = 8;
const PAUSE_MS = 10;

interface Request {
  method: string;
  target: string;
  body?: object;
  /** With a POST: makes it safe to send again. */
  idempotencyKey?: string;
}

interface Answer {
  status: number;
  text: string;
}

interface Booked {
  id: number;
  quantity: number;
  cancelled: boolean;
}

/** Workers who order a pet and cancel every other order, send again whatever was not answered, and book the answers. */
export class InsistentOrders {
  readonly booked: Booked[] = [];
  /** Answers that nothing explains. */
  readonly unexpected: unknown[] = [];
  /** Requests that broke off without an answer, and those that were answered 503. */
  readonly interruptions = { broken: 0, unavailable: 0 };
  private stopped = false;
  private running: Promise<unknown> = Promise.resolve();

  /**
   * @param url where to send the next request
   * @param pauseMs after each order and what follows it
   */
  constructor(
    private readonly url: () => string,
    private readonly apiKey: string,
    private readonly petId: number,
    private readonly pauseMs = 0,
  ) {}

  start(): void {
    this.running = Promise.all(Array.from({ length: WORKERS }, (_none, worker) => this.work(worker)));
  }

  /** Ends when everything that was begun has been answered. */
  async stop(): Promise<void> {
    this.stopped = true;
    await within('the last orders', this.running);
  }

  async place(idempotencyKey: string, quantity = 1): Promise<Booked> {
    const body = { petId: this.petId, quantity };
    const request = { method: 'POST', target: '/store/orders', body, idempotencyKey };
    const answer = await this.settle(request);
    if (answer.status !== 201) this.unexpected.push({ request, answer });
    const order = { ...(JSON.parse(answer.text) as Order), cancelled: false };
    this.booked.push(order);
    return order;
  }

  /** What the store has of this pet has to be what was booked: each order and event once, and the stock that is left. */
  async expectBooked(pool: Pool, stock: number): Promise<void> {
    const { rows: orders } = await pool.query<Booked>(
      `SELECT id::int, quantity, cancelled_at IS NOT NULL AS cancelled FROM orders WHERE pet_id = $1 ORDER BY id`,
      [this.petId],
    );
    const booked = this.booked.map(({ id, quantity, cancelled }) => ({ id, quantity, cancelled }));
    expect(orders).toEqual(booked.sort((a, b) => a.id - b.id));
    const { rows: events } = await pool.query<{ event: string }>(
      `SELECT concat_ws(' ', type, data::json ->> 'id') AS event FROM events
       WHERE type IN ('order.placed', 'order.cancelled') AND pet_id = $1`,
      [this.petId],
    );
    const happened = booked.flatMap(({ id, cancelled }) =>
      cancelled ? [`order.placed ${id}`, `order.cancelled ${id}`] : [`order.placed ${id}`],
    );
    expect(events.map(({ event }) => event).sort()).toEqual(happened.sort());
    const left = booked.reduce((sum, one) => sum - (one.cancelled ? 0 : one.quantity), stock);
    const quantity = 'SELECT quantity FROM inventory WHERE pet_id = $1';
    expect((await pool.query(quantity, [this.petId])).rows).toEqual([{ quantity: left }]);
  }

  private async work(worker: number): Promise<void> {
    for (let turn = 0; !this.stopped; turn += 1) {
      const order = await this.place(`order-${worker}-${turn}`, 1 + (turn % 3));
      if (turn % 2 === 0) await this.cancel(order);
      if (this.pauseMs > 0) await sleep(this.pauseMs);
    }
  }

  private async cancel(order: Booked): Promise<void> {
    const answer = await this.settle({ method: 'DELETE', target: `/store/orders/${order.id}` });
    // One that broke off before may have been done.
    if (answer.status !== 204 && answer.status !== 404) this.unexpected.push({ order, answer });
    order.cancelled = true;
  }

  /** Sends it until it is answered for good. */
  private async settle(request: Request): Promise<Answer> {
    for (;;) {
      const answer = await this.send(request);
      if (answer && !isPassing(answer)) return answer;
      await sleep(PAUSE_MS);
    }
  }

  private async send({ method, target, body, idempotencyKey }: Request): Promise<Answer | undefined> {
    const headers: Record<string, string> = idempotencyKey ? { 'Idempotency-Key': idempotencyKey } : {};
    try {
      const answer = await send(`${this.url()}${target}`, this.apiKey, method, body, headers);
      if (answer.status === 503) this.interruptions.unavailable += 1;
      return { status: answer.status, text: await answer.text() };
    } catch {
      this.interruptions.broken += 1;
      return undefined;
    }
  }
}

/** The database is away, or has not yet noticed that whoever sent this before is gone. */
function isPassing({ status, text }: Answer): boolean {
  return status === 503 || text.includes('"idempotency_in_progress"');
}
