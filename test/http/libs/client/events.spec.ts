import { type Event, type PetStoreClient, PetStoreError } from '#libs/client';
import { until } from '../../../support/eventually';
import { useService } from '../../../support/use-service';
import { failureOf } from '../../../support/scripted';
import { onService } from './support/on-service';

const service = useService();

async function all(stream: AsyncIterable<Event>): Promise<string[]> {
  const names: string[] = [];
  for await (const event of stream) {
    names.push(nameIn(event));
  }
  return names;
}

/** What an event is about, by its type; it would not compile if the types did not tell them apart. */
function nameIn(event: Event): string {
  return event.type === 'category.created' ? event.data.name : event.type;
}

/** The end of the feed. */
async function endOfFeed(client: PetStoreClient): Promise<string> {
  const stream = client.events({ cursor: 'now' });
  expect(await all(stream)).toEqual([]);
  return stream.cursor!;
}

it('Existing events are read to the end, filtered by type and pet', async () => {
  const { client } = await onService(service);
  const cursor = await endOfFeed(client);
  const { id: categoryId } = await client.categories.create({ name: 'Dogs' });
  await client.pets.create({ name: 'Ada', categoryId });
  expect(await all(client.events({ cursor }))).toEqual(['Dogs', 'pet.created']);
  expect(await all(client.events({ cursor, types: ['pet.created'] }))).toHaveLength(1);
  expect(await all(client.events({ cursor, petId: 4_711 }))).toEqual([]);
});

it('An invalid cursor is an error', async () => {
  const { client } = await onService(service);
  const astray = client.events({ follow: true, cursor: 'nowhere' });
  expect(await failureOf(all(astray))).toMatchObject({ code: 'invalid_cursor' });
});

describe('Who follows from now on and breaks off', () => {
  const NAMES = ['first', 'second', 'third'];
  const types = ['category.created'] as const;

  /**
   * A follower from the end of the feed.
   * @param send sends its requests that wait for events
   */
  async function follow(send: (request: Request) => Promise<Response> = fetch) {
    const abort = new AbortController();
    const { client: writer } = await onService(service);
    let waiting = false;
    const { client } = await onService(
      service,
      {},
      {
        maxAttempts: 1,
        fetch: (request) => {
          waiting ||= !request.url.endsWith('wait=0');
          return waiting ? send(request) : fetch(request);
        },
      },
    );
    const stream = client.events({ follow: true, cursor: 'now', types: [...types], signal: abort.signal });
    return {
      abort,
      stream,
      events: stream[Symbol.asyncIterator](),
      untilWaiting: () => until(() => waiting),
      write: async () => {
        for (const name of NAMES) {
          await writer.categories.create({ name });
        }
      },
      resume: () => all(writer.events({ cursor: stream.cursor, types: [...types] })),
    };
  }
  type Following = Awaited<ReturnType<typeof follow>>;

  const ways: Record<string, (following: Following) => void> = {
    break: () => undefined,
    throw: () => {
      throw new Error('it failed');
    },
    return: ({ events }) => void events.return(),
    abort: ({ abort }) => abort.abort(new Error('enough')),
  };

  it.each(
    Object.keys(ways).flatMap((way) => [
      { way, place: 'within a page', count: 1 },
      { way, place: 'at the end of a page', count: 3 },
    ]),
  )('by $way, $place, misses nothing', async ({ way, count }) => {
    // Holds back the request, so that all events are on one page.
    let release = () => {};
    const written = new Promise<void>((resolve) => (release = resolve));
    const following = await follow((request) => written.then(() => fetch(request)));
    const seen: string[] = [];
    const read = async () => {
      for await (const event of following.events) {
        if (seen.push(nameIn(event)) === count) {
          ways[way]!(following);
          if (way === 'break') break;
        }
      }
    };
    const reading = read().catch((error: unknown) => error);
    await following.untilWaiting();
    await following.write();
    release();
    await reading;
    expect(seen.slice(0, count)).toEqual(NAMES.slice(0, count));
    expect([...new Set([...seen, ...(await following.resume())])]).toEqual(NAMES);
  });

  it('by an abort before the first event misses nothing', async () => {
    const { abort, events, untilWaiting, write, resume } = await follow();
    const waiting = failureOf(events.next());
    await untilWaiting();
    abort.abort(new Error('enough'));
    expect(await waiting).toEqual(new Error('enough'));
    await write();
    expect(await resume()).toEqual(NAMES);
  });

  it('by a return before the first event misses nothing', async () => {
    const { events, untilWaiting, write, resume } = await follow();
    const ended = Promise.all([events.next(), events.return()]);
    await untilWaiting();
    await write();
    await ended;
    expect(await resume()).toEqual(NAMES);
  });

  it('because the connection is lost continues by itself and misses nothing', async () => {
    let losses = 3;
    const following = await follow(async (request) => {
      losses -= 1;
      if (losses === 2) {
        await following.write();
      }
      return losses >= 0 ? Promise.reject(new TypeError('fetch failed')) : fetch(request);
    });
    const seen: string[] = [];
    for await (const event of following.events) {
      if (seen.push(nameIn(event)) === NAMES.length) break;
    }
    expect(seen).toEqual(NAMES);
    expect(losses).toBeLessThan(0);
  });
});

it('Without following, a lost connection ends the stream with an error', async () => {
  const { client } = await onService(
    service,
    {},
    { maxAttempts: 1, fetch: () => Promise.reject(new TypeError('fetch failed')) },
  );
  expect(await failureOf(all(client.events()))).toBeInstanceOf(PetStoreError);
});
