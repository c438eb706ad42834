import { type Order, aPet } from '../../../support/builders';
import type { ErrorBody } from '../../../support/api-caller';
import { until } from '../../../support/eventually';
import { useStore } from '../../../support/use-service';
import { lockWaits, whileHeld } from '../../../support/disturbances';
import {
  MOST,
  adjust,
  byHand,
  cancel,
  complete,
  open,
  reopen,
  sale,
  set,
  testRules,
} from '../support/stock-rules';

const store = useStore();
const { service, caller, arrange, inventory } = store;

it.concurrent.each([
  [{ shipDate: '2026-12-02T01:00:00+01:00' }, { shipDate: '2026-12-02T00:00:00.000Z' }],
  [{ shipDate: null, complete: false }, { shipDate: undefined }],
])('200: PATCH of an open order, %j, changes %j and nothing else', async (body, changes) => {
  const order = await arrange.order((await arrange.pet()).id, { shipDate: '2026-12-01T00:00:00.000Z' });
  const answer = await caller.patch<Order>(`/store/orders/${order.id}`, body);
  expect([answer.status, answer.body]).toEqual([200, { ...order, ...changes }]);
  expect((await caller.get(`/store/orders/${order.id}`)).text).toBe(answer.text);
});

it('200: the ship date of a complete order can be set after its pet was deleted', async () => {
  const order = await arrange.order((await arrange.pet()).id, { complete: true });
  await caller.delete(`/pets/${order.petId}`);
  const shipDate = '2026-12-01T00:00:00.000Z';
  const answer = await caller.patch<Order>(`/store/orders/${order.id}`, { shipDate });
  expect(answer).toMatchObject({ status: 200, body: { ...order, shipDate } });
});

describe('shipDate', () => {
  // PostgreSQL keeps milliseconds. In the 19th century, the offsets of time zones had seconds.
  it.each([
    ['2026-11-21t09:30:00.1239999999+05:30', '2026-11-21T04:00:00.123Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['1883-11-18T12:03:57Z', '1883-11-18T12:03:57.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('%s is accepted, and returned as %s', async (sent, answered) => {
    const { id } = await arrange.order((await arrange.pet()).id, { shipDate: sent });
    expect((await caller.get<Order>(`/store/orders/${id}`)).body.shipDate).toBe(answered);
  });

  it('is stored in UTC, whatever the time zone of the machine', async () => {
    // JavaScript cuts the offset of Vienna before 1893 to whole minutes.
    const date = Object.assign(new Date('1883-11-18T12:03:57Z'), { getTimezoneOffset: () => -65 });
    const { rows } = await service.database.pool.query('SELECT $1::text AS sent', [date]);
    expect(rows).toEqual([{ sent: '1883-11-18T12:03:57.000+00:00' }]);
  });
});

const GONE = 'order_not_found';
const DONE = 'order_already_complete';
const FULL = 'stock_limit_exceeded';

testRules(store, [
  ['a pet becomes pending when an order takes its last unit', 3, [open(2), open()], 0, 'pending'],
  ['its last completed order sells a pet', 2, [open(), open(), complete(0), complete(1)], 0, 'sold'],
  ['a sale of the last unit sells the pet', 1, [sale], 0, 'sold'],
  ['a cancelled order makes a pending pet available', 1, [open(), cancel(0)], 1, 'available'],
  ['completing an order again changes nothing', 1, [sale, set(1), complete(0)], 1, 'available'],
  ['a pending pet cannot be ordered', 3, [byHand('pending'), open(1, 'pet_not_available')], 3, 'pending'],
  ['a sold pet cannot be ordered', 3, [byHand('sold'), open(4, 'pet_not_available')], 3, 'sold'],
  ['no more can be ordered than is in stock', 3, [open(4, 'insufficient_stock')], 3, 'available'],
  [
    'an order is cancelled only if its units fit',
    5,
    [open(5), set(MOST - 4), cancel(0, FULL), adjust(-1), cancel(0)],
    MOST,
    'available',
  ],
  ['an order returns its units to any stock', 3, [open(3), set(10), cancel(0)], 13, 'available'],
  ['what is cancelled is gone', 2, [open(), cancel(0), cancel(0, GONE), complete(0, GONE)], 2, 'available'],
  ['a complete order stays so', 2, [sale, cancel(0, DONE), reopen(0, DONE)], 1, 'available'],
]);

it('An order that another instance reschedules meanwhile is completed, and keeps its date', async () => {
  const { id: petId } = await arrange.pet();
  const { id } = await arrange.order(petId);
  const { pool } = service.database;
  const reschedule = `UPDATE orders SET ship_date = '2099-01-01Z' WHERE id = ${id}`;
  const { completed } = await whileHeld(pool, reschedule, async () => {
    const completed = caller.patch<Order>(`/store/orders/${id}`, { complete: true });
    await until(async () => (await lockWaits(pool)) === 1);
    return { completed };
  });
  expect((await completed).body).toMatchObject({ complete: true, shipDate: '2099-01-01T00:00:00.000Z' });
});

it.each([
  ['the pet', 'SELECT FROM pets WHERE id = $1 FOR NO KEY UPDATE; '],
  ['the stock alone', ''],
])(
  'An order is decided on the stock that the last holder of the lock on %s has committed',
  async (_what, lock) => {
    const { id: petId } = await arrange.pet(aPet(), 5);
    const { pool } = service.database;
    const sale = `${lock}UPDATE inventory SET stock = 1 WHERE pet_id = $1`.replaceAll('$1', String(petId));
    const { answer } = await whileHeld(pool, sale, async () => {
      const answer = caller.post<ErrorBody>('/store/orders', { petId, quantity: 2 });
      await until(async () => (await lockWaits(pool)) > 0);
      return { answer };
    });
    expect((await answer).body.code).toBe('insufficient_stock');
    expect(await inventory(petId)).toEqual({ petId, quantity: 1, status: 'available' });
  },
);
