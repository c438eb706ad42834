import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import { PetStoreError, createPetStoreClient } from '#libs/client';
import { within } from '../../../support/eventually';

const WORKERS = 8;
const PAUSE_MS = 10;
/** Stands for the URL of the service, which each attempt replaces by the present one. */
const BASE = 'http://fleet.test';

interface Booked {
  id: number;
  quantity: number;
  cancelled: boolean;
}

/** Workers that order a pet, cancel every other order, and book the answers. The SDK repeats each request until it is answered. */
export class InsistentOrders {
  readonly booked: Booked[] = [];
  /** The statuses after which a request was sent again: 0 if it broke off without an answer. */
  readonly interruptions: number[] = [];
  private readonly store: ReturnType<typeof createPetStoreClient>;
  private stopped = false;
  private running: Promise<unknown> = Promise.resolve();

  /**
   * @param url of the service to which the next request is sent
   * @param pauseMs after each order and its cancellation
   */
  constructor(
    url: () => string,
    apiKey: string,
    private readonly petId: number,
    private readonly pauseMs = 0,
  ) {
    this.store = createPetStoreClient({
      baseUrl: BASE,
      apiKey,
      maxAttempts: Infinity,
      maxWaitSeconds: Infinity,
      sleep: () => sleep(PAUSE_MS),
      fetch: (request) => fetch(new Request(request.url.replace(BASE, url()), request)),
      onRetry: ({ status }) => {
        // A 409 says that the earlier attempt is still in progress, because the database has not noticed that its instance is gone.
        if (status !== 409) this.interruptions.push(status);
      },
    });
  }

  start(): void {
    this.running = Promise.all(Array.from({ length: WORKERS }, (_none, worker) => this.work(worker)));
    this.running.catch(() => undefined);
  }

  /** Waits until all requests are answered. Rejects if an answer was an unexpected error. */
  async stop(): Promise<void> {
    this.stopped = true;
    await within('the last orders', this.running);
  }

  async place(idempotencyKey: string, quantity = 1): Promise<Booked> {
    const body = { petId: this.petId, quantity };
    const { data } = await this.store.placeOrder({ body, header: { 'Idempotency-Key': idempotencyKey } });
    const order = { id: data.id, quantity: data.quantity, cancelled: false };
    this.booked.push(order);
    return order;
  }

  /** Expects that the database has what was booked: each order and each event once, and the stock that is left. */
  async expectBooked(pool: Pool, stock: number): Promise<void> {
    const { rows: orders } = await pool.query<Booked>(
      `SELECT id::int, quantity, cancelled_at IS NOT NULL AS cancelled FROM orders WHERE pet_id = $1 ORDER BY id`,
      [this.petId],
    );
    const booked = this.booked.toSorted((a, b) => a.id - b.id);
    expect(orders).toEqual(booked);
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
    const open = booked.filter((one) => !one.cancelled).length;
    const pet = 'SELECT stock, open_orders AS open FROM inventory WHERE pet_id = $1';
    expect((await pool.query(pet, [this.petId])).rows).toEqual([{ stock: left, open }]);
  }

  private async work(worker: number): Promise<void> {
    for (let turn = 0; !this.stopped; turn += 1) {
      const order = await this.place(`order-${worker}-${turn}`, 1 + (turn % 3));
      if (turn % 2 === 0) await this.cancel(order);
      if (this.pauseMs > 0) await sleep(this.pauseMs);
    }
  }

  private async cancel(order: Booked): Promise<void> {
    await this.store.cancelOrder({ path: { orderId: order.id } }).catch((error: unknown) => {
      // If an earlier attempt broke off, it may have cancelled the order, and this one gets 404.
      if (!(error instanceof PetStoreError && error.status === 404)) throw error;
    });
    order.cancelled = true;
  }
}
