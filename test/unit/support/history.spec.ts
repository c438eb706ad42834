import { type Operation, type Stock, contradictionsIn } from '../../support/history';

/** A step such as `write b 0-3 over a` has the kind of an operation, its value, `sent`-`answered`, and the value that it replaced. */
const STEP = /^(?<kind>read|write) (?<value>\w) (?<sent>\d)-(?<answered>\d)?(?: over (?<replaced>\w))?$/;

function operationOf(step: string): Operation {
  const { sent, answered, ...rest } = STEP.exec(step)!.groups!;
  return { ...rest, sent: Number(sent), answered: answered ? Number(answered) : null } as Operation;
}

function ofRegister(...steps: string[]): string[] {
  const category = { initial: 'a', operations: steps.map(operationOf) };
  return contradictionsIn({ registers: { category }, stocks: {} });
}

it.each([
  ['conditional writes', 'write b 0-3 over a', 'write c 1-4 over b', 'read c 5-6'],
  ['writes at the same time', 'write b 0-3', 'write c 1-2', 'read b 4-5'],
  ['a read of the old value meanwhile', 'write b 0-3 over a', 'read a 1-2', 'read b 4-5'],
  ['an unknown write that happened', 'write b 0- over a', 'write c 1-2 over b', 'read c 3-4'],
  ['one that did not', 'write b 0- over a', 'write c 1-2 over a', 'read c 3-4'],
])('A history is explained: %s', (_what, ...steps) => {
  expect(ofRegister(...steps)).toEqual([]);
});

const LOST = 'both replaced a: an update is lost';
const DISORDER = 'cannot be put in order';

it.each([
  ['a lost update', LOST, 'write b 0-2 over a', 'write c 1-3 over a', 'read c 4-5'],
  ['one without a condition', DISORDER, 'write b 0-1', 'read a 2-3'],
  ['one that is seen between', DISORDER, 'write b 0-1', 'write c 2-3 over a', 'read c 4-5'],
  ['a read of an old value', 'out of date', 'write b 0-1 over a', 'read a 2-3', 'read b 4-5'],
  ['a value from nowhere', 'never written', 'read z 0-1'],
  ['an update that follows nothing', 'never written', 'write b 0-1 over z', 'read b 2-3'],
])('A history contradicts itself: %s', (_what, contradiction, ...steps) => {
  expect(ofRegister(...steps)).toEqual([expect.stringContaining(contradiction)]);
});

const KNOWN = { by: 1, isUnknown: false };
const UNKNOWN = { by: 1, isUnknown: true };

const STOCK: Stock = {
  initial: 10,
  final: 8,
  adjustments: [KNOWN],
  acknowledged: { 'key 1': [1, 1], 'key 2': [2] },
  unknownOrders: 0,
  orders: [
    { id: 1, quantity: 3, isCancelled: false },
    { id: 2, quantity: 4, isCancelled: true },
  ],
};

it.each<[expected: string | undefined, change: Partial<Stock>]>([
  [undefined, {}],
  [undefined, { final: 9, adjustments: [KNOWN, UNKNOWN] }],
  ['9 units are left instead of 8', { final: 9 }],
  ['the request key 1 placed the orders 1,2', { acknowledged: { 'key 1': [1, 2] }, unknownOrders: 1 }],
  [
    'the requests key 1 and key 2 placed one order',
    { acknowledged: { 'key 1': [1], 'key 2': [1] }, unknownOrders: 1 },
  ],
  ['the orders 3 are lost', { acknowledged: { a: [1], b: [2], c: [3] } }],
  ['1 orders were not acknowledged', { acknowledged: { a: [1] } }],
])('The stock of a pet: %s', (expected, change) => {
  const found = contradictionsIn({ registers: {}, stocks: { pet: { ...STOCK, ...change } } });
  expect(found).toEqual(expected === undefined ? [] : [expect.stringContaining(expected)]);
});
