import { setTimeout as sleep } from 'node:timers/promises';
import { petstoreJson } from '../../support/command-line';
import { type ServiceProcess } from '../../support/service-process';

interface Order {
  id: number;
  petId: number;
  quantity: number;
  complete: boolean;
}

const STOCK = 1_000_000;
const WORKERS = 8;

/** A client without limits worth the name, made by the CLI; its key. */
export async function unlimitedKey(environment: Record<string, string>, client = 'load'): Promise<string> {
  const limits = ['--per-minute', '1000000', '--per-day', '1000000'];
  await petstoreJson(['clients', 'create', '--name', client, '--plan', 'enterprise', ...limits], environment);
  return (await petstoreJson<{ key: string }>(['keys', 'issue', '--client', client], environment)).key;
}

/** Places, completes and cancels orders of a few pets, and keeps account of what was answered. */
export class OrderLoad {
  /** Orders as they were answered last; cancelled ones are null. What was not answered is not here. */
  readonly acknowledged = new Map<number, Order | null>();
  /** Orders whose last request was not answered with success: it may have been done nevertheless. */
  readonly uncertain = new Set<number>();
  readonly statuses = new Map<number, number>();
  readonly withoutRetryAfter: number[] = [];
  private readonly pets: number[] = [];
  private running: Promise<unknown> | undefined;
  private stopped = false;

  constructor(
    private readonly service: ServiceProcess,
    private readonly key: string,
  ) {}

  async start(): Promise<void> {
    const { id: categoryId } = await this.created('/categories', { name: 'Load' });
    for (const name of ['One', 'Two', 'Three']) {
      const { id } = await this.created('/pets', { name, categoryId });
      await this.service.send(this.key, 'PUT', `/store/inventory/${id}`, { quantity: STOCK });
      this.pets.push(id);
    }
    this.running = Promise.all(Array.from({ length: WORKERS }, (_none, index) => this.work(index)));
  }

  async stop(): Promise<void> {
    this.stopped = true;
    await this.running;
  }

  /** What was acknowledged and is not there (or not as it was answered). */
  async missing(service: ServiceProcess): Promise<unknown[]> {
    const lost: unknown[] = [];
    for (const [id, order] of this.acknowledged) {
      if (!this.uncertain.has(id)) {
        const answer = await service.send(this.key, 'GET', `/store/orders/${id}`);
        const there = answer.status === 200 ? ((await answer.json()) as Order) : null;
        if (there?.complete !== order?.complete) {
          lost.push({ id, order, there });
        }
      }
    }
    return lost;
  }

  /** For every pet, the stock there is and the stock that the orders leave. */
  async stock(service: ServiceProcess): Promise<{ held: number[]; expected: number[] }> {
    const held: number[] = [];
    const expected: number[] = [];
    for (const petId of this.pets) {
      const answer = await service.send(this.key, 'GET', `/store/inventory/${petId}`);
      held.push(((await answer.json()) as { quantity: number }).quantity);
      let ordered = 0;
      for await (const order of this.ordersOf(service, petId)) {
        ordered += order.quantity;
      }
      expected.push(STOCK - ordered);
    }
    return { held, expected };
  }

  private async *ordersOf(service: ServiceProcess, petId: number): AsyncGenerator<Order> {
    let target: string | undefined = `/store/orders?limit=100&petId=${petId}`;
    while (target) {
      const page: Response = await service.send(this.key, 'GET', target);
      yield* (await page.json()) as Order[];
      const next: string | undefined = /<([^>]+)>; rel="next"/.exec(page.headers.get('Link') ?? '')?.[1];
      target = next && new URL(next, service.url).href.slice(service.url.length);
    }
  }

  private async work(index: number): Promise<void> {
    for (let turn = index; !this.stopped; turn += 1) {
      const petId = this.pets[turn % this.pets.length]!;
      const order = await this.attempt('POST', '/store/orders', { petId, quantity: 1 + (turn % 3) });
      if (!order) {
        continue;
      }
      this.acknowledged.set(order.id, order);
      if (turn % 3 !== 0) {
        await this.change(order.id, turn % 3 === 1);
      }
    }
  }

  private async change(id: number, complete: boolean): Promise<void> {
    this.uncertain.add(id);
    const target = `/store/orders/${id}`;
    const changed = complete
      ? await this.attempt('PATCH', target, { complete })
      : await this.attempt('DELETE', target);
    if (changed) {
      this.uncertain.delete(id);
      this.acknowledged.set(id, complete ? changed : null);
    }
  }

  /** Null for everything that is no success, be it that nobody answers. */
  private async attempt(method: string, target: string, body?: object): Promise<Order | null> {
    try {
      const answer = await this.service.send(this.key, method, target, body);
      this.statuses.set(answer.status, (this.statuses.get(answer.status) ?? 0) + 1);
      const text = await answer.text();
      if (answer.ok) {
        return (text === '' ? {} : JSON.parse(text)) as Order;
      }
      if (!answer.headers.has('Retry-After')) {
        this.withoutRetryAfter.push(answer.status);
      }
    } catch {
      // The service was killed.
    }
    await sleep(20);
    return null;
  }

  private async created(path: string, body: object): Promise<{ id: number }> {
    const answer = await this.service.send(this.key, 'POST', path, body);
    if (answer.status !== 201) {
      throw new Error(`POST ${path} was answered ${answer.status}: ${await answer.text()}`);
    }
    return (await answer.json()) as { id: number };
  }
}
