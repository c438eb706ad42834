import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import type { Answer, ApiCaller } from '../../../support/api-caller';
import { Arrange, aPet } from '../../../support/builders';
import { type Operation, type Register, contradictionsIn } from '../../../support/history';
import { useInstances } from '../../../support/use-service';

const instances = useInstances({}, {});

const OPERATIONS = 1_600;
/** Requests that are sent in one turn of the event loop, every other one to the other instance: both have batches that need the same rows. */
const AT_ONCE = 32;
const UNITS = 50;
const GONE = 'gone';

/** Few resources, so that the batches of both instances need the same rows. The more often an operation is named, the more are sent. */
const KINDS = [
  ...['replaceCategory', 'replaceCategory', 'replaceCategory', 'replaceCategory', 'removeCategory'],
  ...['addPet', 'addPet', 'addPet', 'updatePet', 'setStock', 'addUnit'],
  ...['reschedule', 'complete', 'cancel', 'read', 'read'],
] as const;

const COMMAND = fc.record({
  kind: fc.constantFrom(...KINDS),
  place: fc.nat(999),
  isConditional: fc.constantFrom(true, true, true, false),
  amount: fc.integer({ min: 1, max: 3 }),
});
type Command = typeof COMMAND extends fc.Arbitrary<infer Value> ? Value : never;

/** A resource and the field whose value is followed. The values that are written are unique, so that a tag stands for one of them. */
type Followed = [path: string, field: string];

/** Sends requests, and keeps what was acknowledged. */
class Recorder {
  readonly registers: Record<string, Register> = {};
  private time = 0;
  /** The latest tag of each resource that was seen, and the value of that time. */
  private readonly seen = new Map<string, { tag: string; value: string }>();

  follow([path]: Followed, initial: unknown): void {
    this.registers[path] = { initial: String(initial), operations: [] };
  }

  async read(caller: ApiCaller, [path, field]: Followed): Promise<void> {
    const [sent, answer] = [this.time++, await caller.get<Record<string, unknown>>(path)];
    if (answer.status < 500) {
      const value = answer.status === 404 ? GONE : String(answer.body[field]);
      this.keep(path, answer, { kind: 'read', value, sent, answered: this.time++ });
    }
  }

  /** @param value what is written; by default what the answer says, one more than before */
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
      // No value of this resource is certain any more.
      delete this.registers[path];
    } else if (answer.status >= 500) {
      this.keep(path, answer, { ...write, answered: null });
    } else if (answer.status === 412) {
      await this.read(caller, [path, field]);
    }
  }

  private keep(path: string, { headers }: Answer<unknown>, operation: Operation): void {
    this.registers[path]?.operations.push(operation);
    const tag = headers.get('etag');
    if (tag !== null && operation.answered !== null) this.seen.set(path, { tag, value: operation.value });
  }
}

async function record(seed: number): Promise<Record<string, Register>> {
  const recorder = new Recorder();
  const { key } = await instances[0]!.issueKey();
  const callers = instances.map((instance) => instance.callerWith(key));
  const arrange = new Arrange(callers[0]!);
  /** Two that stay in use, and others that are deleted. */
  const categories = await Promise.all(
    Array.from({ length: 8 }, (_, index) => arrange.category(`first ${index}`)),
  );
  const [hot, doomed] = [categories.slice(0, 2), categories.slice(2)];
  const pets = await Promise.all(hot.map(({ id }) => arrange.pet(aPet().inCategory(id), UNITS)));
  // Of a pet that is not followed: an order that is cancelled gives its unit back.
  const { id: orderedOnce } = await arrange.pet(aPet(), UNITS);
  const orders = await Promise.all([0, 1, 2, 3].map(() => arrange.order(orderedOnce)));
  const followed = {
    categories: categories.map(({ id }): Followed => [`/categories/${id}`, 'name']),
    pets: pets.map(({ id }): Followed => [`/pets/${id}`, 'name']),
    stocks: pets.map(({ id }): Followed => [`/store/inventory/${id}`, 'quantity']),
    orders: orders.map(({ id }): Followed => [`/store/orders/${id}`, 'shipDate']),
  };
  categories.forEach(({ name }, index) => recorder.follow(followed.categories[index]!, name));
  pets.forEach(({ name }, index) => recorder.follow(followed.pets[index]!, name));
  followed.stocks.forEach((one) => recorder.follow(one, UNITS));
  followed.orders.forEach((one) => recorder.follow(one, undefined));
  const at = <One>(all: readonly One[], place: number): One => all[place % all.length]!;

  async function carryOut(caller: ApiCaller, command: Command, index: number): Promise<void> {
    const { kind, place: where, amount } = command;
    const name = `name ${index}`;
    const shipDate = new Date(Date.UTC(2030, 0, 1) + index * 1_000).toISOString();
    const write = (of: Followed, [method, body]: [string, object?], value: string) =>
      recorder.write(caller, of, command, [method, of[0], body], value);
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
      case 'cancel':
        return write(at(followed.orders, amount), ['DELETE'], GONE);
      case 'read':
        return recorder.read(caller, at(Object.values(followed).flat(), where));
    }
  }

  const commands = fc.sample(COMMAND, { seed, numRuns: OPERATIONS });
  for (let start = 0; start < OPERATIONS; start += AT_ONCE) {
    const turn = commands.slice(start, start + AT_ONCE);
    await Promise.all(turn.map((command, index) => carryOut(at(callers, index), command, start + index)));
  }

  for (const one of Object.values(followed).flat()) await recorder.read(callers[0]!, one);
  return recorder.registers;
}

it('What two instances acknowledge is what one after the other could have done', async () => {
  const seed = jest.getSeed();
  const registers = await record(seed);
  const contradictions = contradictionsIn(registers);
  if (contradictions.length > 0) {
    const file = join(tmpdir(), `petstore-history-${randomUUID()}.json`);
    writeFileSync(file, JSON.stringify(registers));
    const again = `npx jest --seed ${seed} test/http/libs/database/histories.spec.ts`;
    throw new Error(`${contradictions.join('\n')}\nThe same commands: ${again}\nThis history: ${file}`);
  }
  const acknowledged = Object.values(registers).flatMap(({ operations }) => operations);
  expect(acknowledged.length).toBeGreaterThan(OPERATIONS / 4);
});
