import type { Event } from '#libs/client';
import { useService } from '../../../support/use-service';
import { failureOf, onService } from './support/on-service';

const service = useService();

/** Takes so many events and leaves. */
async function take(stream: AsyncIterable<Event>, count: number): Promise<Event[]> {
  const taken: Event[] = [];
  for await (const event of stream) {
    if (taken.push(event) === count) {
      break;
    }
  }
  return taken;
}

/** What an event is about, by its type; it would not compile if the types did not tell them apart. */
function nameIn(event: Event): string {
  return event.type === 'category.created' ? event.data.name : event.type;
}

it('Existing events are read to the end, filtered by type', async () => {
  const { client } = await onService(service);
  const { data: category } = await client.POST('/categories', { body: { name: 'Dogs' } });
  await client.POST('/pets', { body: { name: 'Ada', categoryId: category.id } });
  expect((await take(client.events(), Infinity)).map(nameIn)).toEqual(['Dogs', 'pet.created']);
  expect(await take(client.events({ types: ['pet.created'] }), Infinity)).toHaveLength(1);
  expect(await take(client.events({ petId: 4_711 }), Infinity)).toEqual([]);
});

it('A follower continues after failures, and later from its cursor', async () => {
  let failures = 3;
  const { client } = await onService(
    service,
    {},
    {
      maxAttempts: 1,
      fetch: (request) => {
        failures -= 1;
        return failures >= 0 ? Promise.reject(new TypeError('the service restarts')) : fetch(request);
      },
    },
  );
  const stream = client.events({ follow: true, types: ['category.created'] });
  expect((await take(stream, 1)).map(nameIn)).toEqual(['Dogs']);
  expect(failures).toBeLessThan(0);
  // He left before he had taken all of the page, so it comes again.
  const again = take(stream, 2);
  await client.POST('/categories', { body: { name: 'Cats' } });
  expect((await again).map(nameIn)).toEqual(['Dogs', 'Cats']);
  expect(stream.cursor).toMatch(/^[\w-]+$/);
  const later = client.events({ cursor: stream.cursor, types: ['category.created'] });
  expect((await take(later, Infinity)).map(nameIn)).toEqual(['Cats']);
});

it('A follower ends when it is aborted, and for an invalid cursor', async () => {
  const { client } = await onService(service);
  const abort = new AbortController();
  const following = failureOf(
    take(client.events({ follow: true, cursor: 'now', signal: abort.signal }), Infinity),
  );
  abort.abort(new Error('enough'));
  expect(await following).toMatchObject({ message: 'enough' });
  const astray = client.events({ follow: true, cursor: 'nowhere' });
  expect(await failureOf(take(astray, 1))).toMatchObject({ code: 'invalid_cursor' });
});
