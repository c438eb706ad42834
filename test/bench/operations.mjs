// The operations that clients send often, each with the goal of its ratio. Whatever the contender: the ids, tags and cursors are its own.

export const PETS = 1_000;
const PAGE = 20;
const READ = 1.1;
const PAGES = 1.0;
const WRITE = 1.0;
const KEYED = 0.9;

/** In a path, a header field or a body, it becomes a number that no other request has. */
export const UNIQUE = 123_454_321;

const WITH_KEY = { 'Idempotency-Key': `bench-${UNIQUE}` };
/** What a good client sends besides. */
const CAREFUL = {
  ...WITH_KEY,
  Accept: 'application/json',
  'Accept-Encoding': 'gzip, deflate',
  'User-Agent': 'store-front/2.1 (orders)',
  'X-Request-Id': `order-${UNIQUE}`,
};

const get = (path, headers) => ({ method: 'GET', path, headers });
const send = (method, path, body, headers) => ({ method, path, headers, body: JSON.stringify(body) });
const reads =
  (pathOf) =>
  ({ pets }) =>
    pets.map((id) => get(pathOf(id)));
const orders =
  (headers) =>
  ({ pets }) =>
    pets.map((petId) => send('POST', '/store/orders', { petId }, headers));
const newPets =
  (headers) =>
  ({ categoryId }) => [send('POST', '/pets', { name: `Pet ${UNIQUE}`, categoryId }, headers)];
const patches =
  (headers) =>
  ({ pets }) =>
    pets.map((id) => send('PATCH', `/pets/${id}`, { name: `Pet ${UNIQUE}` }, headers));
const adjustments =
  (headers) =>
  ({ pets }) =>
    pets.map((id) => send('POST', `/store/inventory/${id}/adjustments`, { delta: 1 }, headers));

export const OPERATIONS = {
  'get-pet': { goal: 1.3, requests: reads((id) => `/pets/${id}`) },
  'find-pet': { goal: READ, requests: reads((id) => `/pets?id=${id}`) },
  'get-category': { goal: READ, requests: ({ categoryId }) => [get(`/categories/${categoryId}`)] },
  'get-order': { goal: READ, requests: (store) => store.orders.map((id) => get(`/store/orders/${id}`)) },
  'get-stock': { goal: READ, requests: reads((id) => `/store/inventory/${id}`) },
  'get-unchanged': {
    goal: READ,
    status: 304,
    requests: ({ tags }) => [...tags].map(([id, tag]) => get(`/pets/${id}`, { 'If-None-Match': tag })),
  },
  'list-pets': { goal: PAGES, requests: () => [get(`/pets?limit=${PAGE}`)] },
  'jump-pets': { goal: PAGES, requests: ({ petPages }) => petPages.map((path) => get(path)) },
  'jump-orders': { goal: PAGES, requests: ({ orderPages }) => orderPages.map((path) => get(path)) },
  'place-order': { goal: WRITE, status: 201, requests: orders() },
  'place-order-keyed': { goal: KEYED, status: 201, requests: orders(WITH_KEY) },
  'place-order-careful': { goal: KEYED, status: 201, requests: orders(CAREFUL) },
  'create-pet': { goal: WRITE, status: 201, requests: newPets() },
  'create-pet-keyed': { goal: WRITE, status: 201, requests: newPets(WITH_KEY) },
  'update-pet': { goal: WRITE, requests: patches() },
  'update-pet-matching': { goal: WRITE, requests: patches({ 'If-Match': '*' }) },
  'set-stock': {
    goal: WRITE,
    requests: ({ pets }) => pets.map((id) => send('PUT', `/store/inventory/${id}`, { quantity: UNIQUE })),
  },
  'adjust-stock': { goal: WRITE, requests: adjustments() },
  'adjust-stock-keyed': { goal: WRITE, requests: adjustments(WITH_KEY) },
};

/** Fills an empty store through its API, and remembers what requests are made of. */
export async function fill(url, apiKey) {
  const call = async (method, path, body) => {
    const headers = { 'X-API-Key': apiKey, ...(body && { 'Content-Type': 'application/json' }) };
    const response = await fetch(url + path, { method, headers, body: body && JSON.stringify(body) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return { data: JSON.parse(text), headers: response.headers };
  };
  const { data: category } = await call('POST', '/categories', { name: 'Dogs' });
  const numbers = Array.from({ length: PETS }, (_none, index) => index);
  const pets = await inTurns(numbers, async (n) => {
    const { data } = await call('POST', '/pets', { name: `Pet ${n}`, categoryId: category.id });
    await call('PUT', `/store/inventory/${data.id}`, { quantity: 1_000_000_000 });
    return data.id;
  });
  const orders = await inTurns(
    pets,
    async (petId) => (await call('POST', '/store/orders', { petId })).data.id,
  );
  const tags = new Map(
    await inTurns(pets, async (id) => [id, (await call('GET', `/pets/${id}`)).headers.get('ETag')]),
  );
  const pagesOf = async (first) => {
    const pages = [];
    for (let path = first; path !== undefined; ) {
      const { headers } = await call('GET', path);
      path = /<([^>]+)>; rel="?next"?/.exec(headers.get('Link') ?? '')?.[1];
      if (path !== undefined) pages.push(path);
    }
    return pages;
  };
  const petPages = await pagesOf(`/pets?limit=${PAGE}`);
  const orderPages = await pagesOf(`/store/orders?limit=${PAGE}`);
  return { categoryId: category.id, pets, orders, tags, petPages, orderPages };
}

/** Ten at a time; the results in order. */
async function inTurns(items, work) {
  const results = [];
  for (let start = 0; start < items.length; start += 10) {
    results.push(...(await Promise.all(items.slice(start, start + 10).map(work))));
  }
  return results;
}
