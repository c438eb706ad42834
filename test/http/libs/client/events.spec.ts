import {
  type PetStoreClient,
  type PetStoreOptions,
  type StoreEvent,
  all,
  createPetStoreClient,
} from '#libs/client';
import { failureOf } from '../../../support/scripted';
import { useService } from '../../../support/use-service';

const service = useService();

/** A client of the running service with a key of its own, which waits for nothing. */
async function aClient(options: Partial<PetStoreOptions> = {}): Promise<PetStoreClient> {
  const { key: apiKey } = await service.issueKey();
  const sleep = () => Promise.resolve();
  return createPetStoreClient({ baseUrl: service.url, apiKey, sleep, ...options });
}

const NAMES = ['first', 'second', 'third'];
const type: ['category.created'] = ['category.created'];

/** What an event is about, by its type; it would not compile if the types did not tell them apart. */
function nameIn(event: StoreEvent): string {
  return event.type === 'category.created' ? event.data.name : event.type;
}

async function write(): Promise<void> {
  const client = await aClient();
  for (const name of NAMES) {
    await client.createCategory({ body: { name } });
  }
}

it('An error that does not pass ends the loop', async () => {
  const client = await aClient();
  const astray = client.followEvents({ query: { cursor: 'nowhere' } });
  expect(await failureOf(astray.next())).toMatchObject({ code: 'invalid_cursor' });
});

describe('Who follows from now on', () => {
  /** A follower from the end of the feed, who has the cursor of the first page. @param send sends what waits for events */
  async function follow(send: (request: Request) => Promise<Response>, signal?: AbortSignal) {
    const client = await aClient({
      maxAttempts: 1,
      fetch: (request) => (request.url.includes('wait=0') ? fetch(request) : send(request)),
    });
    const pages = client.followEvents({ query: { cursor: 'now', type }, signal });
    const { value: first } = await pages.next();
    expect(first).toMatchObject({ data: [] });
    return { pages, cursor: first!.next! };
  }

  it('has a cursor before the first event, and misses nothing after an abort', async () => {
    const abort = new AbortController();
    const send = (request: Request) => {
      setImmediate(() => abort.abort(new Error('enough')));
      return fetch(request);
    };
    const { pages, cursor } = await follow(send, abort.signal);
    expect(await failureOf(pages.next())).toEqual(new Error('enough'));
    await write();
    const names: string[] = [];
    for await (const event of all((await aClient()).listEvents, { query: { cursor, type } })) {
      names.push(nameIn(event));
    }
    expect(names).toEqual(NAMES);
  });

  it('continues by itself after lost connections, and misses nothing', async () => {
    let losses = 3;
    const { pages } = await follow(async (request) => {
      losses -= 1;
      if (losses === 2) {
        await write();
      }
      return losses >= 0 ? Promise.reject(new TypeError('fetch failed')) : fetch(request);
    });
    const seen: string[] = [];
    for await (const { data } of pages) {
      seen.push(...data.map(nameIn));
      if (seen.length === NAMES.length) break;
    }
    expect(seen).toEqual(NAMES);
    expect(losses).toBeLessThan(0);
  });
});
