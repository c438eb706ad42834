import type { ErrorBody } from '../../support/api-client';
import { type Order, aPet } from '../../support/builders';
import { useStore } from '../../support/use-service';

/** The same rules hold whether a date comes with a new order or with a change of one. */
const VALID = [
  ['2026-11-21T09:30:00Z', '2026-11-21T09:30:00.000Z'],
  ['2026-11-21t09:30:00z', '2026-11-21T09:30:00.000Z'],
  ['2026-11-21T09:30:00.5Z', '2026-11-21T09:30:00.500Z'],
  ['2026-11-21T09:30:00.123999999Z', '2026-11-21T09:30:00.123Z'],
  ['2026-11-21T09:30:00+05:30', '2026-11-21T04:00:00.000Z'],
  ['2026-11-21T23:30:00-01:00', '2026-11-22T00:30:00.000Z'],
  ['2026-11-21T09:30:00-00:00', '2026-11-21T09:30:00.000Z'],
  ['2028-02-29T00:00:00Z', '2028-02-29T00:00:00.000Z'],
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  ['0099-12-31T23:59:59.999Z', '0099-12-31T23:59:59.999Z'],
  ['1883-11-18T12:03:57Z', '1883-11-18T12:03:57.000Z'],
  ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
] as const;

const INVALID = [
  '2026-11-21',
  '2026-11-21T09:30:00',
  '2026-11-21T09:30Z',
  '2026-11-21 09:30:00 Z',
  '2026-02-30T00:00:00Z',
  '2027-02-29T00:00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-00-01T00:00:00Z',
  '2026-11-00T00:00:00Z',
  '2026-11-21T24:00:00Z',
  '2026-11-21T09:60:00Z',
  '2026-11-21T09:30:00+24:00',
  '2026-11-21T09:30:00+0100',
  '0000-12-31T23:59:59Z',
  '0001-01-01T00:00:00+01:00',
  '9999-12-31T23:59:59-01:00',
  '10000-01-01T00:00:00Z',
  '+02026-11-21T09:30:00Z',
  'tomorrow',
  '',
  1_795_253_400,
  true,
];

describe('shipDate', () => {
  const { service, caller, arrange } = useStore();
  let petId: number;

  beforeAll(async () => {
    petId = (await arrange.pet(aPet(), 1_000)).id;
  });

  it.each(VALID)('%s is accepted, and returned as %s', async (sent, answered) => {
    const placed = await caller.post<Order>('/store/orders', { petId, shipDate: sent });
    expect(placed).toMatchObject({ status: 201, body: { shipDate: answered } });
    const read = await caller.get<Order>(`/store/orders/${placed.body.id}`);
    expect(read.body.shipDate).toBe(answered);

    const { id } = await arrange.order(petId);
    const changed = await caller.patch<Order>(`/store/orders/${id}`, { shipDate: sent });
    expect(changed).toMatchObject({ status: 200, body: { shipDate: answered } });
    expect((await caller.get<Order>(`/store/orders/${id}`)).text).toBe(changed.text);
  });

  it.each(INVALID)('%j is rejected', async (shipDate) => {
    const { id } = await arrange.order(petId);
    const answers = [
      await caller.post<ErrorBody>('/store/orders', { petId, shipDate }),
      await caller.patch<ErrorBody>(`/store/orders/${id}`, { shipDate }),
    ];
    for (const { body } of answers) {
      expect(body).toMatchObject({ code: 'validation_failed', status: 400 });
      expect(body.message).toContain('shipDate must be a date and time with an offset');
    }
  });

  it('is removed by null in a patch, kept by a patch without it, and then omitted from the response', async () => {
    const { id } = await arrange.order(petId, { shipDate: '2026-12-01T00:00:00Z' });
    const kept = await caller.patch<Order>(`/store/orders/${id}`, { complete: false });
    expect(kept.body.shipDate).toBe('2026-12-01T00:00:00.000Z');
    const removed = await caller.patch<Order>(`/store/orders/${id}`, { shipDate: null });
    expect(removed.status).toBe(200);
    expect(removed.body).toEqual({ id, petId, quantity: 1, complete: false });
    expect((await caller.get<Order>(`/store/orders/${id}`)).text).toBe(removed.text);
  });

  it('is stored in UTC, whatever the time zone of the machine', async () => {
    // The offset that JavaScript tells of Vienna before 1893, cut to whole minutes.
    const date = Object.assign(new Date('1883-11-18T12:03:57Z'), { getTimezoneOffset: () => -65 });
    const { rows } = await service.database.pool.query('SELECT $1::text AS sent', [date]);
    expect(rows).toEqual([{ sent: '1883-11-18T12:03:57.000+00:00' }]);
  });
});
