import { setTimeout as sleep } from 'node:timers/promises';
import type { Order, Pet } from '../../../support/builders';
import type { InsistentClient, Request, Settled } from './insistent-client';
import type { Books } from './books';
import { until, within } from '../../../support/eventually';

const WORKERS = 8;
/** Units in stock of the pets that all workers order; the last one runs out now and then. */
const STOCK = [1_000_000, 1_000_000, 3];
/** Refusals that are right when others were faster; whatever else is refused fails the test. */
const RULES = new Set(['pet_not_available', 'insufficient_stock']);

/** What was sent with an Idempotency-Key, and how it was answered. */
interface KeyedRequest {
  request: Request;
  settled: Settled;
}

/** Workers who do all that changes the store, and write what they were answered into the books. */
export class MixedLoad {
  private readonly keyed: KeyedRequest[] = [];
  /** Answers that no rule explains. */
  readonly unexpected: unknown[] = [];
  private readonly shared: number[] = [];
  private categoryId = 0;
  private answers = 0;
  /** Called at that many answers, while requests of other workers are under way. */
  private waiting = { for: Infinity, call: (): void => undefined };
  private sent = 0;
  private allowed = 0;
  private stopped = false;
  private running: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly client: InsistentClient,
    readonly books: Books,
  ) {}

  async start(): Promise<void> {
    const category = { method: 'POST', target: '/categories', body: { name: 'Load' } };
    ({ id: this.categoryId } = read<{ id: number }>(await this.client.settle(category)));
    this.allowed += STOCK.length;
    for (const [index, quantity] of STOCK.entries()) {
      const { id } = (await this.createPet(`shared-${index}`))!;
      await this.client.settle({ method: 'PUT', target: `/store/inventory/${id}`, body: { quantity } });
      this.books.stock.set(id, quantity);
      this.shared.push(id);
    }
    const workers = Array.from({ length: WORKERS }, (_none, worker) => this.work(worker));
    this.running = Promise.all(workers);
    // Who waits for more than the end is told of it later.
    this.running.catch(() => undefined);
  }

  /** Lets the workers send this many more requests, and waits until that many are answered. */
  async goOn(requests: number): Promise<void> {
    this.allowed += requests;
    await Promise.race([this.running, until(() => this.answers >= this.allowed)]);
  }

  /** Waits until this many of those requests are answered. */
  async answered(requests: number): Promise<void> {
    const enough = this.answers + Math.ceil(requests);
    const answered = new Promise<void>((call) => (this.waiting = { for: enough, call }));
    await within(`${requests} more answers`, Promise.race([answered, this.running]));
  }

  /** Ends when everything that was begun has been answered. */
  async stop(): Promise<void> {
    this.stopped = true;
    await this.running;
  }

  /** Sends everything with a key once more. @returns what is not answered as it was, to the byte, and said to be a replay */
  async wrongReplays(): Promise<unknown[]> {
    const all = this.keyed.map(async ({ request, settled }) => {
      const replay = await this.client.settle(request);
      const isSame = replay.status === settled.status && replay.text === settled.text;
      return replay.replayed && isSame ? [] : [{ request, settled, replay }];
    });
    return (await Promise.all(all)).flat();
  }

  private async work(worker: number): Promise<void> {
    for (let turn = 0; !this.stopped; turn += 1) {
      const name = `${worker}-${turn}`;
      const petId = this.shared[turn % this.shared.length]!;
      const pet = await this.createPet(`pet-${name}`);
      const first = await this.placeOrder(`first-${name}`, { petId, quantity: 1 + (turn % 3) });
      const second = await this.placeOrder(`second-${name}`, { petId, complete: turn % 4 === 0 });
      await this.adjust(`adjust-${name}`, petId, turn % 5 === 0 ? -1 : 1);
      await this.rename(pet!, `renamed-${name}`);
      if (first && turn % 2 === 0) await this.cancel(first);
      if (second && !second.complete) await this.complete(second);
      if (turn % 2 === 0) await this.deletePet(pet!);
    }
  }

  private async createPet(name: string): Promise<Pet | undefined> {
    const body = { name, categoryId: this.categoryId };
    const pet = await this.post<Pet>({ target: '/pets', body, idempotencyKey: `create-${name}` });
    if (pet) this.books.pets.set(pet.id, name);
    return pet;
  }

  private async placeOrder(idempotencyKey: string, body: Partial<Order>): Promise<Order | undefined> {
    const order = await this.post<Order>({ target: '/store/orders', body, idempotencyKey });
    if (order) this.books.enter(order);
    return order;
  }

  private async adjust(idempotencyKey: string, petId: number, delta: number): Promise<void> {
    const target = `/store/inventory/${petId}/adjustments`;
    if (await this.post({ target, body: { delta }, idempotencyKey })) {
      this.books.stock.set(petId, this.books.stock.get(petId)! + delta);
    }
  }

  private async rename({ id }: Pet, name: string): Promise<void> {
    const body = { name, categoryId: this.categoryId };
    if (await this.change({ method: 'PUT', target: `/pets/${id}`, body }, [200])) {
      this.books.pets.set(id, name);
    }
  }

  private async cancel(order: Order): Promise<void> {
    if (await this.change({ method: 'DELETE', target: `/store/orders/${order.id}` }, [204, 404])) {
      this.books.cancel(order);
    }
  }

  private async complete(order: Order): Promise<void> {
    const target = `/store/orders/${order.id}`;
    if (await this.change({ method: 'PATCH', target, body: { complete: true } }, [200])) {
      this.books.enter({ ...order, complete: true });
    }
  }

  private async deletePet({ id }: Pet): Promise<void> {
    if (await this.change({ method: 'DELETE', target: `/pets/${id}` }, [204, 404])) {
      this.books.pets.set(id, null);
    }
  }

  /** @returns what was created; undefined when a rule refused it */
  private async post<Resource>(request: Omit<Request, 'method'>): Promise<Resource | undefined> {
    const sent = { method: 'POST', ...request };
    const settled = await this.settle(sent);
    this.keyed.push({ request: sent, settled });
    if (settled.status < 300) return read<Resource>(settled);
    if (!RULES.has(read<{ code: string }>(settled).code)) this.unexpected.push({ sent, settled });
    return undefined;
  }

  /** Waits for its turn first, so that nothing is sent while a service starts: there are few processors. */
  private async settle(request: Request): Promise<Settled> {
    while (this.sent >= this.allowed && !this.stopped) {
      await sleep(5);
    }
    this.sent += 1;
    const settled = await this.client.settle(request);
    this.answers += 1;
    if (this.answers === this.waiting.for) this.waiting.call();
    return settled;
  }

  /** @param success what says that it is done; what is gone already may be so only when it was sent before */
  private async change(request: Request, success: number[]): Promise<boolean> {
    const settled = await this.settle(request);
    const done = success.includes(settled.status) && (settled.status !== 404 || settled.again);
    if (!done) this.unexpected.push({ request, settled });
    return done;
  }
}

function read<Body>({ text }: Settled): Body {
  return JSON.parse(text) as Body;
}
