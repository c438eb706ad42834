import { EVENT_TYPES } from '../../../src/modules/events/event-blocks';

it('Every type has a bit of its own', () => {
  expect(EVENT_TYPES.length).toBeLessThanOrEqual(31);
});
