import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import type { Answer, ApiCaller } from '../../../support/api-caller';
import { Arrange, type InventoryItem, type Order, aPet } from '../../../support/builders';
import { type History, type Operation, contradictionsIn } from '../../../support/history';
import { useInstances } from '../../../support/use-service';

const instances = useInstances({}, {});

const OPERATIONS = 2_000;
/** So many requests are sent in one turn of the event loop, alternately to both instances, so that batches of both need the same rows. */
const AT_ONCE = 32;
const UNITS = 50;
const GONE = 'gone';

/** The kinds of requests. A kind that is named more often is sent more often. */
// prettier-ignore
const KINDS = [
  'replaceCategory', 'replaceCategory', 'replaceCategory', 'replaceCategory', 'addPet', 'addPet', 'addPet',
  'removeCategory', 'updatePet', 'setStock', 'addUnit', 'reschedule', 'complete', 'cancel',
  'order', 'orderWithKey', 'orderWithKey', 'adjust', 'read', 'read',
] as const;

const COMMAND = fc.record({
  kind: fc.constantFrom(...KINDS),
  place: fc.nat(999),
  isConditional: fc.constantFrom(true, true, true, false),
  amount: fc.integer({ min: 1, max: 3 }),
});
type Command = typeof COMMAND extends fc.Arbitrary<infer Value> ? Value : never;

/** A resource, and the field whose values the history records. Every written value is unique, so that an ETag stands for one value. */
type Followed = [path: string, field: string];

/** Sends requests, and records their answers as a history. */
class Recorder {
  readonly history: History = { registers: {}, stocks: {} };
  private time = 0;
  /** The latest ETag of each resource, with the value to which it belongs. */
  private readonly seen = new Map<string, { tag: string; value: string }>();

  follow([path]: Followed, initial: unknown): void {
    this.history.registers[path] = { initial: String(initial), operations: [] };
  }

  async read(caller: ApiCaller, [path, field]: Followed): Promise<void> {
    const [sent, answer] = [this.time++, await caller.get<Record<string, unknown>>(path)];
    if (answer.status < 500) {
      const value = answer.status === 404 ? GONE : String(answer.body[field]);
      this.keep(path, answer, { kind: 'read', value, sent, answered: this.time++ });
    }
  }

  /** @param value that is written. Without it, the request adds one to the value, and the answer has the sum. */
  async write(
    caller: ApiCaller,
    [path, field]: Followed,
    { isConditional }: Command,
    [method, target, body]: [method: string, target: string, body?: object],
    value?: string,
  ): Promise<void> {
    const before = isConditional ? this.seen.get(path) : undefined;
    const sender = before === undefined ? caller : caller.with({ 'If-Match': before.tag });
    const [sent, answer] = [
      this.time++,
      await sender.send<Record<string, unknown> | undefined>(method, target, body),
    ];
    const write = { kind: 'write', value: value ?? '', replaced: before?.value, sent } as const;
    if (answer.status < 300) {
      const after = value ?? String(answer.body?.[field]);
      const replaced = value === undefined ? String(Number(after) - 1) : before?.value;
      this.keep(path, answer, { ...write, value: after, replaced, answered: this.time++ });
    } else if (answer.status >= 500 && value === undefined) {
      // It is unknown whether one was added, so later sums say nothing about the order of the writes.
      delete this.history.registers[path];
    } else if (answer.status >= 500) {
      this.keep(path, answer, { ...write, answered: null });
    } else if (answer.status === 412) {
      await this.read(caller, [path, field]);
    }
  }

  private keep(path: string, { headers }: Answer<unknown>, operation: Operation): void {
    this.history.registers[path]?.operations.push(operation);
    const tag = headers.get('etag');
    if (tag !== null && operation.answered !== null) this.seen.set(path, { tag, value: operation.value });
  }
}

async function record(): Promise<History> {
  const recorder = new Recorder();
  const { history } = recorder;
  const { key } = await instances[0]!.issueKey();
  const callers = instances.map((instance) => instance.callerWith(key));
  const arrange = new Arrange(callers[0]!);
  /** Two categories stay in use; requests delete the others. */
  const categories = await Promise.all(
    Array.from({ length: 8 }, (_, index) => arrange.category(`first ${index}`)),
  );
  const [hot, doomed] = [categories.slice(0, 2), categories.slice(2)];
  const [changed, ordered] = await Promise.all(
    [UNITS, UNITS].map((units) =>
      Promise.all(hot.map(({ id }) => arrange.pet(aPet().inCategory(id), units))),
    ),
  );
  // The history has no stock of this pet, because a cancelled order would change it.
  const { id: orderedOnce } = await arrange.pet(aPet(), UNITS);
  const orders = await Promise.all([0, 1, 2, 3].map(() => arrange.order(orderedOnce)));
  const followed = {
    categories: categories.map(({ id }): Followed => [`/categories/${id}`, 'name']),
    pets: changed!.map(({ id }): Followed => [`/pets/${id}`, 'name']),
    stocks: changed!.map(({ id }): Followed => [`/store/inventory/${id}`, 'quantity']),
    orders: orders.map(({ id }): Followed => [`/store/orders/${id}`, 'shipDate']),
  };
  categories.forEach(({ name }, index) => recorder.follow(followed.categories[index]!, name));
  changed!.forEach(({ name }, index) => recorder.follow(followed.pets[index]!, name));
  followed.stocks.forEach((one) => recorder.follow(one, UNITS));
  followed.orders.forEach((one) => recorder.follow(one, undefined));
  for (const { id } of ordered!) {
    const none = { adjustments: [], acknowledged: {}, unknownOrders: 0, orders: [] };
    history.stocks[id] = { initial: UNITS, final: UNITS, ...none };
  }

  const placed: number[] = [];
  const at = <One>(all: readonly One[], place: number): One => all[place % all.length]!;

  async function place(caller: ApiCaller, petId: number, quantity: number, request: string): Promise<void> {
    const answer = await caller
      .with({ 'Idempotency-Key': request })
      .post<Order>('/store/orders', { petId, quantity });
    const stock = history.stocks[petId]!;
    if (answer.status === 201) {
      placed.push(answer.body.id);
      (stock.acknowledged[request] ??= []).push(answer.body.id);
    }
    if (answer.status >= 500) stock.unknownOrders += 1;
  }

  async function carryOut(caller: ApiCaller, command: Command, index: number): Promise<void> {
    const { kind, place: where, amount } = command;
    const name = `name ${index}`;
    const pet = at(ordered!, where);
    const shipDate = new Date(Date.UTC(2030, 0, 1) + index * 1_000).toISOString();
    const write = (of: Followed, [method, body, more = '']: [string, object?, string?], value?: string) =>
      recorder.write(caller, of, command, [method, `${of[0]}${more}`, body], value);
    switch (kind) {
      case 'replaceCategory':
        return write(
          at([...followed.categories.slice(0, 2), ...followed.categories], where),
          ['PUT', { name }],
          name,
        );
      case 'removeCategory':
        return write(at(followed.categories, where), ['DELETE'], GONE);
      case 'addPet':
        await caller.post('/pets', {
          name,
          categoryId: at([...hot, ...hot, ...hot, ...hot, ...doomed], where).id,
        });
        return;
      case 'updatePet':
        return write(at(followed.pets, where), ['PATCH', { name, categoryId: at(hot, amount).id }], name);
      case 'setStock':
        return write(
          at(followed.stocks, where),
          ['PUT', { quantity: (index + 1) * 10_000 }],
          String((index + 1) * 10_000),
        );
      case 'addUnit':
        return recorder.write(caller, at(followed.stocks, where), { ...command, isConditional: false }, [
          'POST',
          `${at(followed.stocks, where)[0]}/adjustments`,
          { delta: 1 },
        ]);
      case 'reschedule':
      case 'complete':
        return write(
          at(followed.orders, where),
          ['PATCH', { shipDate, ...(kind === 'complete' && { complete: true }) }],
          shipDate,
        );
      case 'cancel': {
        const id = where % 4 === 0 ? undefined : at(placed, where);
        if (id === undefined) return write(at(followed.orders, amount), ['DELETE'], GONE);
        await caller.delete(`/store/orders/${id}`);
        return;
      }
      case 'order':
        return place(caller, pet.id, amount, randomUUID());
      case 'orderWithKey':
        return place(caller, pet.id, 1 + (where % 3), `key ${where % 150}-${pet.id}`);
      case 'adjust': {
        const by = where % 3 === 0 ? -amount : amount;
        const { status } = await caller.post(`/store/inventory/${pet.id}/adjustments`, { delta: by });
        if (status < 300 || status >= 500) {
          history.stocks[pet.id]!.adjustments.push({ by, isUnknown: status >= 500 });
        }
        return;
      }
      case 'read':
        return recorder.read(caller, at(Object.values(followed).flat(), where));
    }
  }

  const commands = fc.sample(COMMAND, { seed: jest.getSeed(), numRuns: OPERATIONS });
  for (let start = 0; start < OPERATIONS; start += AT_ONCE) {
    const turn = commands.slice(start, start + AT_ONCE);
    await Promise.all(turn.map((command, index) => carryOut(at(callers, index), command, start + index)));
  }

  for (const one of Object.values(followed).flat()) await recorder.read(callers[0]!, one);
  for (const { id } of ordered!) {
    const { rows } = await instances[0]!.database.pool.query<History['stocks'][string]['orders'][number]>(
      `SELECT id::int, quantity, cancelled_at IS NOT NULL AS "isCancelled" FROM orders WHERE pet_id = $1`,
      [id],
    );
    const { body } = await callers[0]!.get<InventoryItem>(`/store/inventory/${id}`);
    Object.assign(history.stocks[id]!, { orders: rows, final: body.quantity });
  }
  return history;
}

it('What two instances acknowledge is what one after the other could have done', async () => {
  const history = await record();
  expect(contradictionsIn(history)).toEqual([]);
  const acknowledged = Object.values(history.registers).flatMap(({ operations }) => operations);
  expect(acknowledged.length).toBeGreaterThan(OPERATIONS / 4);
});
