import { AsyncLocalStorage } from 'node:async_hooks';
import { writeFileSync } from 'node:fs';
import type { IncomingMessage, Server } from 'node:http';
import { join } from 'node:path';
import { SERVICE_CALLER_ID } from '#libs/database';
import { Session, type Statement } from '../../../libs/database/src/engine/session';
import { CategoriesService } from '../../../src/modules/categories';
import { InventoryService } from '../../../src/modules/inventory';
import { OrdersService } from '../../../src/modules/orders/orders.service';
import { PetsService } from '../../../src/modules/pets';
import { QuotaRecords } from '../../../src/modules/quotas/counters/quota-records';
import { aPet } from '../../support/builders';
import { ROOT, read } from '../../support/files';
import { useStore } from '../../support/use-service';

const FILE = 'docs/development/statements.sql';
const { service, caller, arrange } = useStore();

/** The statements that the current request has sent, by round trip. Background work belongs to no request, so it adds none. */
const sent = new AsyncLocalStorage<Statement[][]>();

beforeAll(() => {
  const { execute } = Session.prototype;
  jest.spyOn(Session.prototype, 'execute').mockImplementation(function (this: Session, calls) {
    sent.getStore()?.push([...calls]);
    return execute.call(this, calls);
  });
});

/** The round trips of the work, each with its statements. */
async function roundTripsOf(work: () => Promise<unknown>): Promise<string[]> {
  const roundTrips: Statement[][] = [];
  const server = service.app.getHttpServer() as Server;
  const enter = (_request: IncomingMessage): void => sent.enterWith(roundTrips);
  server.prependListener('request', enter);
  await sent.run(roundTrips, work);
  server.off('request', enter);
  return roundTrips.map((statements) => statements.map(({ text }) => `${plain(text)};`).join('\n'));
}

function plain(text: string): string {
  return text.replace(/\s*\n\s*/g, '\n  ').trim();
}

function section(title: string, roundTrips: readonly string[]): string {
  return `-- ${title}\n\n${roundTrips.join('\n\n-- then\n\n')}\n`;
}

it('The file of statements has all that reads and writes send, in the order in which they send it', async () => {
  const { id: petId, categoryId } = await arrange.pet(aPet(), 1_000);
  const [first, second] = [await arrange.order(petId), await arrange.order(petId)];
  const { id: spare } = await arrange.category();
  const { id: gone } = await arrange.pet();
  const keyed = () => caller.with({ 'Idempotency-Key': 'statements' });
  const requests: [title: string, work: () => Promise<unknown>][] = [
    ['A key that this instance does not know yet', async () => (await service.caller()).get('/nowhere')],
    ['Get a pet', () => caller.get(`/pets/${petId}`)],
    ['Get a category', () => caller.get(`/categories/${categoryId}`)],
    ['Get an order', () => caller.get(`/store/orders/${first.id}`)],
    ['Get the stock of a pet', () => caller.get(`/store/inventory/${petId}`)],
    ['List pets', () => caller.get('/pets')],
    ['List pets by status', () => caller.get('/pets?status=available')],
    ['List pets by category', () => caller.get(`/pets?categoryId=${categoryId}`)],
    ['List pets by name', () => caller.get('/pets?name=re')],
    ['List categories', () => caller.get('/categories')],
    ['List orders', () => caller.get('/store/orders')],
    ['List the orders of a pet', () => caller.get(`/store/orders?petId=${petId}`)],
    ['List the stock', () => caller.get('/store/inventory')],
    ['Read the feed', () => caller.get('/events')],
    ['Start at the end of the feed', () => caller.get('/events?cursor=now')],
    ['Place an order', () => caller.post('/store/orders', { petId })],
    ['Place an order with an Idempotency-Key', () => keyed().post('/store/orders', { petId })],
    ['Repeat it', () => keyed().post('/store/orders', { petId })],
    [
      'Reschedule an order',
      () => caller.patch(`/store/orders/${first.id}`, { shipDate: '2026-12-01T00:00:00Z' }),
    ],
    ['Complete an order', () => caller.patch(`/store/orders/${first.id}`, { complete: true })],
    ['Cancel an order', () => caller.delete(`/store/orders/${second.id}`)],
    ['Create a pet', () => caller.post('/pets', { name: 'Rex', categoryId })],
    ['Replace a pet', () => caller.put(`/pets/${petId}`, { name: 'Max', categoryId })],
    ['Change the name of a pet', () => caller.patch(`/pets/${petId}`, { name: 'Ada' })],
    ['Hold a pet', () => caller.patch(`/pets/${petId}`, { status: 'pending' })],
    ['Offer it again', () => caller.patch(`/pets/${petId}`, { status: 'available' })],
    ['Delete a pet', () => caller.delete(`/pets/${gone}`)],
    ['Set the stock', () => caller.put(`/store/inventory/${petId}`, { quantity: 500 })],
    ['Adjust the stock', () => caller.post(`/store/inventory/${petId}/adjustments`, { delta: -1 })],
    ['Create a category', () => caller.post('/categories', { name: 'Cats' })],
    ['Replace a category', () => caller.put(`/categories/${spare}`, { name: 'Birds' })],
    ['Delete a category', () => caller.delete(`/categories/${spare}`)],
    ['Change what does not exist', () => caller.patch('/pets/999999', { name: 'Ada' })],
    ...together(petId, categoryId),
  ];
  // The first request of a key saves the counts of earlier requests if a background task has not saved these counts yet.
  await service.app.get(QuotaRecords).flush();
  const sections: string[] = [];
  // The first section has the look-up of the key. The service repeats it each second, whatever the request is, so no other has it.
  let lookUp: string | undefined;
  for (const [title, work] of requests) {
    const roundTrips = (await roundTripsOf(work)).filter((roundTrip) => roundTrip !== lookUp);
    lookUp ??= roundTrips[0];
    expect([title, roundTrips.length > 0]).toEqual([title, true]);
    sections.push(section(title, roundTrips));
  }
  const head = `-- What each request sends to PostgreSQL, by round trip. Made by \`npm run statements\`.\n`;
  const text = [head, ...sections].join('\n');
  if (process.env.UPDATE_STATEMENTS) {
    writeFileSync(join(ROOT, FILE), text);
  }
  expect(read(FILE)).toBe(text);
});

/** Commands that wait at the same time share a transaction. It has the same statements, each for several rows. */
function together(petId: number, categoryId: number): [title: string, work: () => Promise<unknown>][] {
  const [pets, orders] = [service.app.get(PetsService), service.app.get(OrdersService)];
  const [inventory, categories] = [service.app.get(InventoryService), service.app.get(CategoriesService)];
  const source = { callerId: SERVICE_CALLER_ID };
  const twice = (work: () => Promise<unknown>) => () => Promise.all([work(), work()]);
  return [
    ['Orders that are placed together', twice(() => orders.place({ petId }, source))],
    ['Pets that are created together', twice(() => pets.create({ name: 'Rex', categoryId }, source))],
    [
      'Different writes that share a transaction',
      () =>
        Promise.all([
          pets.update(petId, { name: 'Eve' }, source),
          inventory.adjust(petId, -1, source),
          categories.create({ name: 'Fish' }, source),
        ]),
    ],
  ];
}
