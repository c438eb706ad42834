import { type StoredEvent, BEGINNING, EVENT_TYPES } from '../../../src/modules/events/event-blocks';
import { EventWatch } from '../../../src/modules/events/event-tail';

const event = (position: number) => ({ position, type: 'pet.updated', petId: 1 }) as StoredEvent;

it('Every type has a bit of its own', () => {
  expect(EVENT_TYPES.length).toBeLessThanOrEqual(31);
});

it('What happens while a response is prepared is not added to it: the next page has it', async () => {
  const watch = new EventWatch({ after: BEGINNING, filter: {}, most: 10, client: 1 }, () => undefined);
  watch.show([event(100)]);
  const found = await watch.next(0, new AbortController().signal);
  watch.show([event(200)]);
  expect(found.map(({ position }) => position)).toEqual([100]);
});
