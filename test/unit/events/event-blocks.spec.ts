import { bitsOf } from '../../../src/modules/events/event-blocks';

const types = (count: number) => Array.from({ length: count }, (_none, index) => `type.${index}`);

it('Every type of event has a bit of its own, and more types than there are bits do not start', () => {
  const bits = [...bitsOf(types(31)).values()];
  expect(new Set(bits).size).toBe(31);
  expect(bits.every((bit) => bit > 0 && bit < 2 ** 31)).toBe(true);
  expect(() => bitsOf(types(32))).toThrow('31 types of events');
});
