import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, ApiClient, ErrorBody } from '../../../support/api-client';
import type { Order } from '../../../support/builders';
import { until } from '../../../support/eventually';

const WORKERS = 8;
const MOST_ATTEMPTS = 100;

/** An order as it was acknowledged last. */
export interface AcknowledgedOrder {
  id: number;
  quantity: number;
  cancelled: boolean;
}

/**
 * Clients that place and cancel orders of one pet, and see to it that they get an answer: what one instance does not
 * answer is sent to the next, a new order with the Idempotency-Key that it had.
 */
export class FailoverLoad {
  readonly acknowledged: AcknowledgedOrder[] = [];
  /** Requests that broke off or found nobody. */
  failovers = 0;
  private stopped = false;
  private running: Promise<unknown> | undefined;

  constructor(
    private readonly callers: ApiClient[],
    private readonly petId: number,
  ) {}

  start(): void {
    this.running = Promise.all(Array.from({ length: WORKERS }, (_none, index) => this.work(index)));
  }

  /** Waits until that many more orders are acknowledged; rejects when something was refused. */
  async goOn(orders: number): Promise<void> {
    const enough = this.acknowledged.length + orders;
    await Promise.race([this.running, until(() => this.acknowledged.length >= enough)]);
  }

  /** Ends when everything that was begun is acknowledged; rejects when something was refused. */
  async stop(): Promise<void> {
    this.stopped = true;
    await this.running;
  }

  private async work(first: number): Promise<void> {
    for (let turn = first; !this.stopped; turn += WORKERS) {
      const order = { petId: this.petId, quantity: 1 + (turn % 3) };
      const placed = await this.insist<Order>(turn, (caller) =>
        caller.with({ 'Idempotency-Key': `turn-${turn}` }).post('/store/orders', order),
      );
      expect(placed.status).toBe(201);
      const acknowledged = { id: placed.body.id, quantity: order.quantity, cancelled: false };
      this.acknowledged.push(acknowledged);
      if (turn % 4 === 0) {
        const before = this.failovers;
        const cancelled = await this.insist(turn, (caller) =>
          caller.delete(`/store/orders/${placed.body.id}`),
        );
        // An attempt that was not answered may have been the one that cancelled.
        expect(this.failovers > before ? [204, 404] : [204]).toContain(cancelled.status);
        acknowledged.cancelled = true;
      }
    }
  }

  private async insist<Body>(
    turn: number,
    send: (caller: ApiClient) => Promise<Answer<Body>>,
  ): Promise<Answer<Body>> {
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt += 1) {
      const answer = await this.attempt(send, this.callers[(turn + attempt) % this.callers.length]!);
      if (answer && (answer.body as ErrorBody | undefined)?.code !== 'idempotency_in_progress') {
        return answer;
      }
      await sleep(10);
    }
    throw new Error(`After ${MOST_ATTEMPTS} attempts turn ${turn} was not answered.`);
  }

  /** Null when the connection broke or there was none. */
  private async attempt<Body>(
    send: (caller: ApiClient) => Promise<Answer<Body>>,
    caller: ApiClient,
  ): Promise<Answer<Body> | null> {
    try {
      return await send(caller);
    } catch (error) {
      // What fetch rejects with is of another realm than the test's own TypeError.
      if ((error as Error).name !== 'TypeError') {
        throw error;
      }
      this.failovers += 1;
      return null;
    }
  }
}
