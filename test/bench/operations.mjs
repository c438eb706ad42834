// The operations that clients send often. Each contender has its own ids, ETags and cursors.

const PETS = 1_000;

/** Stands in a path, a header field or a body for a number that differs in each request. */
export const UNIQUE = 123_454_321;

const KEYED = { 'Idempotency-Key': `bench-${UNIQUE}` };
/** The header fields that a careful client sends with every request. */
const CAREFUL = {
  Accept: 'application/json',
  'Accept-Encoding': 'gzip, deflate',
  'User-Agent': 'store-front/2.1 (orders)',
  'X-Request-Id': `order-${UNIQUE}`,
};

export const get = (path, headers) => ({ method: 'GET', path, headers });
export const send = (method, path, body, headers) => ({ method, path, headers, body: JSON.stringify(body) });
const read = (pathOf, headers) => (store) => store.pets.map((id) => get(pathOf(id), headers));
const order = (headers) => (store) =>
  store.pets.map((petId) => send('POST', '/store/orders', { petId, quantity: 1 }, headers));
const newPet = (headers) => (store) => [
  send('POST', '/pets', { name: `Pet ${UNIQUE}`, categoryId: store.categoryId }, headers),
];
const patch = (headers) => (store) =>
  store.pets.map((id) => send('PATCH', `/pets/${id}`, { name: `Pet ${UNIQUE}` }, headers));
const adjust = (headers) => (store) =>
  store.pets.map((id) => send('POST', `/store/inventory/${id}/adjustments`, { delta: 1 }, headers));
/** The pages after each of these ids, except the last ids, whose pages would be short. */
const pages = (path, ids, cursorAfter) =>
  ids.slice(0, -20).map((id) => get(`${path}&cursor=${cursorAfter(id)}`));

export const OPERATIONS = {
  'get-pet': { requests: read((id) => `/pets/${id}`) },
  'get-pet-careful': { requests: read((id) => `/pets/${id}`, CAREFUL) },
  'get-unchanged': {
    status: 304,
    requests: ({ tags }) => tags.map(([path, tag]) => get(path, { 'If-None-Match': tag })),
  },
  'find-pet': { requests: read((id) => `/pets?id=${id}`) },
  'get-category': { requests: ({ categoryId }) => [get(`/categories/${categoryId}`)] },
  'get-order': { requests: ({ placed }) => placed.map((id) => get(`/store/orders/${id}`)) },
  'get-stock': { requests: read((id) => `/store/inventory/${id}`) },
  'list-pets': { requests: () => [get('/pets?status=available&limit=20')] },
  'jump-pets': {
    requests: ({ pets, cursorAfter }) => pages('/pets?status=available&limit=20', pets, cursorAfter),
  },
  'list-orders': { requests: () => [get('/store/orders')] },
  'jump-orders': {
    requests: ({ placed, cursorAfter }) => pages('/store/orders?limit=20', placed, cursorAfter),
  },
  'jump-events': { requests: ({ feed }) => feed.map((path) => get(path)) },
  'place-order': { status: 201, requests: order() },
  'place-order-keyed': { status: 201, requests: order(KEYED) },
  'place-order-careful': { status: 201, requests: order({ ...CAREFUL, ...KEYED }) },
  // The first turn sets one date, and the second another, so that every request changes its order.
  'reschedule-order': {
    requests: ({ placed }) =>
      ['2099-01-01T00:00:00Z', '2099-01-02T00:00:00Z'].flatMap((shipDate) =>
        placed.map((id) => send('PATCH', `/store/orders/${id}`, { shipDate })),
      ),
  },
  'create-pet': { status: 201, requests: newPet() },
  'create-pet-keyed': { status: 201, requests: newPet(KEYED) },
  'update-pet': { requests: patch() },
  'update-pet-matching': { requests: patch({ 'If-Match': '*' }) },
  'set-stock': {
    requests: ({ pets }) => pets.map((id) => send('PUT', `/store/inventory/${id}`, { quantity: UNIQUE })),
  },
  'adjust-stock': { requests: adjust() },
  'adjust-stock-keyed': { requests: adjust(KEYED) },
};

/**
 * Fills a store through its API. @returns the ids, ETags and pages from which requests are made
 * @param contender with `cursorAfter`, which returns the cursor of the page after an id
 */
export async function fill(contender) {
  const create = async (path, body) => (await call(contender, 'POST', path, body)).data.id;
  const categoryId = await create('/categories', { name: 'Cats' });
  const pets = await inTurns(Array.from({ length: PETS }).keys(), (n) =>
    create('/pets', { name: `Pet ${n}`, categoryId }),
  );
  await inTurns(pets, (id) => call(contender, 'PUT', `/store/inventory/${id}`, { quantity: 1_000_000_000 }));
  const placed = await inTurns(pets, (petId) => create('/store/orders', { petId }));
  const tags = await tagsOf(contender, placed);
  const feed = await feedOf(contender);
  return { categoryId, pets, placed, tags, feed, cursorAfter: contender.cursorAfter };
}

/** The paths of orders, each with its ETag. */
export function tagsOf(contender, placed) {
  return inTurns(placed, async (id) => {
    const path = `/store/orders/${id}`;
    return [path, (await call(contender, 'GET', path)).headers.get('ETag')];
  });
}

/** The paths of the first full pages of the feed. */
export async function feedOf(contender) {
  const paths = [];
  for (let path = '/events?limit=100'; paths.length < 60;) {
    const { data, headers } = await call(contender, 'GET', path);
    if (data.length < 100) break;
    paths.push(path);
    path = /<(.*)>/.exec(headers.get('Link'))[1];
  }
  return paths;
}

/** Sends a request. @returns the body and the header fields of the answer */
export async function call({ url, apiKey }, method, path, body) {
  const headers = { 'X-API-Key': apiKey, ...(body && { 'Content-Type': 'application/json' }) };
  const response = await fetch(url + path, { method, headers, body: body && JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return { data: text === '' ? undefined : JSON.parse(text), headers: response.headers };
}

/** Does the work for all items, ten at a time. @returns the results in the order of the items */
async function inTurns(items, work) {
  const all = [...items];
  const results = [];
  for (let start = 0; start < all.length; start += 10) {
    results.push(...(await Promise.all(all.slice(start, start + 10).map(work))));
  }
  return results;
}
