import { type StoredEvent, BEGINNING, bitsOf } from '../../../src/modules/events/event-blocks';
import { EventWatch } from '../../../src/modules/events/event-tail';

const types = (count: number) => Array.from({ length: count }, (_none, index) => `type.${index}`);

it('Every type of event has a bit of its own, and more types than there are bits do not start', () => {
  const bits = [...bitsOf(types(31)).values()];
  expect(new Set(bits).size).toBe(31);
  expect(bits.every((bit) => bit > 0 && bit < 2 ** 31)).toBe(true);
  expect(() => bitsOf(types(32))).toThrow('31 types of events');
});

const event = (position: number) => ({ position, type: 'pet.updated', petId: 1 }) as StoredEvent;

it('What happens while a response is prepared is not added to it: the next page has it', async () => {
  const watch = new EventWatch({ after: BEGINNING, filter: {}, most: 10, client: 1 }, () => undefined);
  watch.show([event(100)]);
  const found = await watch.next(0, new AbortController().signal);
  watch.show([event(200)]);
  expect(found.map(({ position }) => position)).toEqual([100]);
});
