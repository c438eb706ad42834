import { readFileSync } from 'node:fs';
import type { Browser, Locator, Page } from 'playwright-core';
import { FOREIGN_HOST, startBrowser } from '../../support/browser';
import { QuotasService } from '../../../src/modules/quotas';
import { GUIDES, guidePath } from '../../../src/http/document/guides';
import { useStore } from '../../support/use-service';
import { operationsOf } from '../../support/document';
import { until } from '../../support/eventually';

const store = useStore();
const { service } = store;
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const operations = () => [...operationsOf(service.document).values()];
let browser: Browser;
let page: Page;
/** What the browser complained of, and what it asked other hosts for, in the test that runs. */
const complaints: string[] = [];

const addressOf = (link: string) => `http://${FOREIGN_HOST}:${service.port}/docs${link}`;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/;
const WIDE = { viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce' } as const;

/** Opens the page in a window of its own, with a profile that is empty. */
async function open(
  window: Parameters<Browser['newPage']>[0],
  link = '',
  ready = '.opblock-summary-control',
): Promise<void> {
  page = await browser.newPage(window);
  page.setDefaultTimeout(90_000);
  page.on('pageerror', ({ message }) => complaints.push(message));
  page.on('console', (line) => {
    if (['error', 'warning'].includes(line.type())) {
      complaints.push(line.text());
    }
  });
  page.on('request', (request) => {
    const { protocol, host } = new URL(request.url());
    if (protocol !== 'data:' && host !== `${FOREIGN_HOST}:${service.port}`) {
      complaints.push(request.url());
    }
  });
  await page.goto(addressOf(link));
  await page.locator(ready).first().waitFor();
}

beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.close());
afterEach(async () => {
  await page?.close();
  expect(complaints.splice(0)).toEqual([]);
});

const operation = (name: string) => page.locator(`[id^="operations-"][id$="-${name}"]`);
const menu = () => page.getByRole('navigation', { name: 'Contents' });
const texts = (selector: string) => page.locator(selector).allTextContents();

/** Shows the one operation, by its address. */
async function show(name: string): Promise<Locator> {
  const [tag] = operations().find(({ operationId }) => operationId === name)!.tags;
  await page.evaluate(`location.hash = '#/${tag}/${name}'`);
  await operation(name).locator('.opblock-body .responses-wrapper').waitFor();
  return operation(name);
}

async function authorize(key: string): Promise<void> {
  await page.getByRole('button', { name: 'Authorize' }).click();
  const dialog = page.locator('.dialog-ux');
  await dialog.locator('input').fill(key);
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'hidden' });
}

/** Waits until the element is at the top of the window, or as near to that as the end of the page lets it come. */
async function comesIntoView(element: Locator): Promise<void> {
  await element.waitFor();
  await until(async () => {
    const { y } = (await element.boundingBox())!;
    const isEnd = 'scrollY + innerHeight > document.documentElement.scrollHeight - 2';
    return y >= -2 && (y < 500 || (await page.evaluate<boolean>(isEnd)));
  });
}

describe('On a wide screen, the page', () => {
  beforeEach(() => open(WIDE));

  it('shows operations, the search and the way to authorize at first, lists all by group, marks what may change, and describes requests', async () => {
    expect(await page.title()).toBe('Pet Store');
    expect(await page.locator('.opblock').count()).toBe(operations().length);
    for (const element of [
      page.locator('.opblock').nth(5),
      page.locator('.find'),
      page.getByRole('button', { name: 'Authorize' }),
    ]) {
      const { y, height } = (await element.boundingBox())!;
      expect(y + height).toBeLessThan(900);
    }
    const groups = 'Pets Animals Categories Store Orders Inventory Events Webhooks Account'.split(' ');
    expect(await texts('nav :is(h2, h3)')).toEqual(['Guides', ...groups]);
    expect(await texts('#page main .opblock-tag > a')).toEqual(groups);
    const { length } = await menu().locator('li').all();
    expect(length).toBe(GUIDES.length + operations().length);
    const entries = menu().locator('li', { has: page.locator('[title$="/pets/{petId}"]') });
    expect(await entries.allTextContents()).toEqual([
      'getGet a pet deprecated',
      'putReplace a pet ',
      'patchUpdate a pet beta',
      'deleteDelete a pet ',
    ]);

    const badges = (name: string) => operation(name).locator('.badge').allTextContents();
    expect(await badges('getPet')).toEqual(['deprecated, sunset 2027-11-01']);
    expect(await operation('getPet').locator('.opblock-summary-path__deprecated').count()).toBe(1);
    expect(await badges('updatePet')).toEqual(['beta']);
    expect(await badges('adjustInventory')).toEqual(['experimental']);
    expect(await badges('listPets')).toEqual([]);
    const marked = operations().filter((operation) => 'x-stability' in operation || operation.deprecated);
    expect(await page.locator('.opblock .badge').count()).toBe(marked.length);

    expect(await (await show('listOrders')).locator('.try-out__btn').count()).toBe(0);
    expect(await (await show('placeOrder')).locator('.try-out__btn').count()).toBe(1);
    // The example of an If-Match would make the request fail.
    const tried = await show('deletePet');
    await tried.locator('.try-out__btn').click();
    expect(await tried.locator('[data-param-name=If-Match] input').inputValue()).toBe('');

    const list = await show('listPets');
    const wordsOf = (name: string) =>
      list.locator(`[data-param-name=${name}] .parameters-col_description p`).first().innerText();
    expect(await wordsOf('id')).toBe('Only pets with one of these ids. Example: 1, 2.');
    expect(await wordsOf('limit')).toBe(
      'Maximum number of entries on a page. With id, the default is 100, so that all of them are on it. Example: 20.',
    );
    expect(await page.locator('main').innerText()).not.toMatch(/9007199254740991|2147483647|pattern:/);

    const created = await show('createCategory');
    expect((await created.boundingBox())!.height).toBeLessThan(4 * 900);
    expect(await created.locator('.curl-command pre').innerText()).toContain(
      `curl 'http://${FOREIGN_HOST}:${service.port}/categories' \\\n  -H`,
    );
    await created.getByRole('heading', { name: 'Python' }).click();
    expect(await created.locator('.curl-command pre').innerText()).toContain('response = requests.post(');
    expect(await created.locator('.response > .response-col_status').allInnerTexts()).toEqual([
      '201',
      'Errors',
    ]);
  });

  it('shows an example of every error code that an operation documents, as JSON, and no nested field outside its box', async () => {
    const placed = await show('placeOrder');
    const { responses } = operations().find(({ operationId }) => operationId === 'placeOrder')!;
    const documented = Object.entries(responses).flatMap(([status, { content }]) =>
      Object.keys(content?.['application/json']?.examples ?? {}).map((code) => `${status} ${code}`),
    );
    const errors = placed.locator('.response', { hasText: 'Errors' });
    expect(await errors.locator('option').allInnerTexts()).toEqual(expect.arrayContaining(documented));
    await errors.locator('.examples-select-element').selectOption('insufficient_stock');
    const example = errors.locator('.example code');
    await until(async () => (await example.innerText()).includes('insufficient_stock'));
    expect(JSON.parse(await example.innerText())).toMatchObject({ code: 'insufficient_stock', status: 409 });
    expect(await errors.innerText()).toContain('There are not enough units in stock.');

    const clipped = `[...document.querySelectorAll('.model-box, .model-box td')].filter((box) => box.scrollWidth > box.clientWidth + 1).map((box) => box.innerText)`;
    for (const name of ['listEvents', 'createWebhook', 'getRateLimit']) {
      await show(name);
      expect([name, await page.evaluate(clipped)]).toEqual([name, []]);
    }
  });

  it('finds operations, error codes and guides, and opens the target of a link, again too, with one step back for each', async () => {
    const search = page.getByRole('dialog', { name: 'Search' });
    const kinds = () => search.locator('li small').allInnerTexts();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('idempotency');
    await until(async () => new Set(await kinds()).size === 3);
    await page.keyboard.type(' unicorn');
    await search.getByText('Nothing found for “idempotency unicorn”.').waitFor();
    await search.getByRole('searchbox').fill('webhoks');
    await search.getByText('Create a webhook').waitFor();
    await search.getByRole('searchbox').fill('cursor');
    await until(async () => (await kinds())[0] === 'Guide');
    await search.getByRole('searchbox').fill('adjustInventory');
    await until(async () => (await kinds()).join() === 'Operation');
    await page.keyboard.press('Enter');
    await search.waitFor({ state: 'hidden' });
    await operation('adjustInventory').locator('.opblock-body').waitFor();

    await page.keyboard.press('Control+k');
    await search.getByRole('searchbox').fill('createCategory');
    const found = search.locator('li', { hasText: 'Create a category' });
    expect(await found.locator('span').innerText()).toMatch(/^POST \/categories – .*(\.|\w …)$/);
    await page.keyboard.press('Escape');
    await search.waitFor({ state: 'hidden' });
    await page.locator('.find').click();
    await search.getByRole('button', { name: 'Close' }).click();
    await search.waitFor({ state: 'hidden' });

    const entries = await page.evaluate<number>('history.length');
    const link = (name: string) => menu().getByRole('link', { name, exact: true });
    await link('Inventory').click();
    await comesIntoView(page.locator('#operations-tag-Inventory'));
    expect(await page.locator('.opblock').count()).toBe(operations().length);
    await link('Pets').click();
    await comesIntoView(page.locator('#operations-tag-Pets'));
    await page.evaluate('scrollTo(0, 9000)');
    await link('Pets').click();
    await comesIntoView(page.locator('#operations-tag-Pets'));
    expect(await page.evaluate('history.length')).toBe(entries + 2);
  });

  it('shows one operation below its group, with an address and a title of its own, and the list one step back', async () => {
    const entries = await page.evaluate<number>('history.length');
    const isList = async () => (await page.locator('.opblock').count()) === operations().length;
    await menu().getByTitle('POST /store/orders', { exact: true }).click();
    await operation('placeOrder').locator('.opblock-body').waitFor();
    expect(await texts('#page main :is(.opblock-tag > a, .opblock-summary-description)')).toEqual([
      'Store',
      'Orders',
      'Place an order',
    ]);
    expect([page.url(), await page.title()]).toEqual([
      addressOf('#/Orders/placeOrder'),
      'Place an order – Pet Store',
    ]);
    expect(await texts('nav [aria-current] .path > span')).toEqual(['Place an order']);
    await page.goBack();
    await until(isList);
    expect(await page.title()).toBe('Pet Store');

    await operation('createPet').locator('.opblock-summary-control').click();
    await operation('createPet').locator('.opblock-body').waitFor();
    expect(page.url()).toBe(addressOf('#/Animals/createPet'));
    await operation('createPet').locator('.opblock-summary-control').click();
    await until(isList);
    await page.evaluate(`location.hash = '#/Orders/nonsense'`);
    await until(isList);
    expect(await page.evaluate('history.length')).toBe(entries + 3);
  });

  it('can be used with the keyboard alone, from its opening to an order', async () => {
    const { arrange } = store;
    const pet = await arrange.pet();
    const { key } = await service.issueKey({ plan: 'free' });
    const tabTo = async (element: Locator) => {
      for (let step = 0; step < 150; step += 1) {
        await page.keyboard.press('Tab');
        if (await element.evaluate((node) => node === node.ownerDocument.activeElement)) return;
      }
      throw new Error(`The tab key does not lead to ${String(element)}`);
    };
    await tabTo(menu().getByTitle('POST /store/orders', { exact: true }));
    await page.keyboard.press('Enter');
    const placed = operation('placeOrder');
    await placed.locator('.try-out__btn').waitFor();
    await tabTo(placed.locator('.try-out__btn'));
    await page.keyboard.press('Enter');
    await tabTo(placed.locator('.body-param textarea'));
    await page.keyboard.press('Control+a');
    await page.keyboard.type(JSON.stringify({ petId: pet.id }));
    await tabTo(placed.locator('.execute'));
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'API key' }).waitFor();
    await page.keyboard.type(key);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'API key' }).waitFor({ state: 'hidden' });
    // The focus is where it was.
    await page.keyboard.press('Enter');
    const live = placed.locator('.live-responses-table .response');
    expect(await live.locator('.response-col_status').innerText()).toBe('201');
    await tabTo(placed.locator('.curl-command .btn', { hasText: 'Python' }));
    await page.keyboard.press('Enter');
    await until(async () =>
      (await placed.locator('.curl-command pre').innerText()).includes('requests.post'),
    );
  });

  it('asks for a key before it sends a request without one, keeps it nowhere, and shows it only to who asks', async () => {
    const { key } = await service.issueKey({ plan: 'free' });
    const tried = await show('listPets');
    await tried.locator('.try-out__btn').click();
    await tried.locator('[data-param-name=limit] input').fill('2');
    await tried.locator('.execute').click();
    const dialog = page.locator('.dialog-ux');
    await dialog.locator('input').fill(key);
    await dialog.locator('.modal-btn.authorize').click();
    await dialog.waitFor({ state: 'hidden' });
    await tried.locator('.execute').click();

    const answer = tried.locator('.live-responses-table .response');
    expect(await answer.locator('.response-col_status').innerText()).toBe('200');
    expect(await answer.locator('.response-col_description').innerText()).toMatch(
      /x-ratelimit-limit: 60\s[^]*x-ratelimit-remaining: 59\s[^]*x-ratelimit-reset: \d+/,
    );
    const command = tried.locator('.curl-command pre');
    expect(await command.innerText()).toContain(`/pets?limit=2' \\\n`);
    expect(await command.innerText()).toContain(`-H "X-API-Key: $PETSTORE_KEY"`);
    await tried.getByLabel('Show my key').check();
    await until(async () => (await command.innerText()).includes(`-H 'X-API-Key: ${key}'`));

    const kept = 'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])';
    expect(await page.evaluate(kept)).toBe('[{},{},""]');
  });

  it('fills in a new Idempotency-Key for each request, unless somebody types one, and the command beside has it', async () => {
    await authorize((await service.issueKey({ plan: 'free' })).key);
    const placed = await show('createCategory');
    const field = placed.locator('[data-param-name=Idempotency-Key] input');
    const command = placed.locator('.curl-command pre');
    const live = placed.locator('.live-responses-table .response');
    await placed.locator('.try-out__btn').click();
    const first = await field.inputValue();
    expect(first).toMatch(UUID);
    await placed.locator('.body-param textarea').fill('{"name": "Fish"}');
    await until(async () => (await command.innerText()).endsWith(`-d '{"name": "Fish"}'`));
    expect(await command.innerText()).toContain(`-H 'Idempotency-Key: ${first}'`);
    await placed.locator('.execute').click();
    expect(await live.locator('.response-col_status').innerText()).toBe('201');
    await comesIntoView(placed.locator('.live-responses-table'));
    await until(async () => (await field.inputValue()) !== first);
    expect(await field.inputValue()).toMatch(UUID);

    await field.fill("it's mine");
    await placed.locator('.execute').click();
    await until(async () => (await command.innerText()).includes(`-H 'Idempotency-Key: it'\\''s mine'`));
    await placed.locator('.live-responses-table .response-col_status').last().waitFor();
    expect(await field.inputValue()).toBe("it's mine");
  });
});

test('Who has authorized sees his plan, windows, requests of thirty days and a ban, which costs one request', async () => {
  await open(WIDE);
  const { key, keyId } = await service.issueKey({ plan: 'free' });
  await authorize(key);
  const limits = page.getByRole('table', { name: 'Your limits: plan free' });
  const windows = limits.locator('tbody tr');
  await windows.first().waitFor();
  expect((await windows.allInnerTexts()).map((row) => row.split('\t').slice(0, 2))).toEqual([
    ['minute', '59 of 60'],
    ['day', '999 of 1000'],
  ]);
  const days = page.getByRole('table', { name: 'Requests by day' }).locator('tbody tr');
  expect(await days.count()).toBe(30);
  expect(await page.locator('.limits rect').count()).toBe(30);

  await show('listPets');
  await limits.waitFor({ state: 'hidden' });
  await service.app.get(QuotasService).ban(keyId);
  const caller = service.anonymous().with({ 'X-API-Key': key });
  await until(async () => (await caller.get<{ ban: { banned: boolean } }>('/rate-limit')).body.ban.banned);
  await page.goBack();
  await page.getByText('This key is banned until').waitFor();
  expect(await days.count()).toBe(30);
});

test('The page opens at the operation of its address, below the header', async () => {
  await open(WIDE, '#/Orders/placeOrder');
  await operation('placeOrder').locator('.opblock-body').waitFor();
  expect(await page.locator('.opblock').count()).toBe(1);
  expect((await operation('placeOrder').boundingBox())!.y).toBeGreaterThan(50);
  expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('none');
});

describe('On a guide', () => {
  beforeEach(() => open(WIDE, '/guides/getting-started', 'main h1'));

  it('commands contain the address of the service, and can be copied', async () => {
    const command = page.locator('main pre', { hasText: 'BASE=' });
    await command.hover();
    await command.getByRole('button', { name: 'Copy' }).click();
    await command.getByText('Copied').waitFor();
    expect(await page.evaluate('getSelection().toString()')).toContain(
      `BASE=http://${FOREIGN_HOST}:${service.port}`,
    );
  });

  it('the contents link to its sections, and the search to other pages', async () => {
    await page.getByRole('navigation', { name: 'On this page' }).getByRole('link', { name: 'Order' }).click();
    await comesIntoView(page.locator('#order'));
    await page.keyboard.press('Control+k');
    await page.keyboard.type('daily_quota_exceeded');
    await page.locator('dialog.search li').first().waitFor();
    await page.keyboard.press('ArrowDown');
    expect(await page.evaluate(`document.activeElement.matches('li:nth-child(2) a')`)).toBe(true);
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/guides/errors#daily_quota_exceeded');
    await comesIntoView(page.locator('#daily_quota_exceeded'));
  });
});

test('The page for an unknown path is readable and links onward', async () => {
  await open(WIDE, '/guides/nonsense', 'main h1');
  expect(complaints.splice(0)).toEqual([expect.stringContaining('404')]);
  expect((await page.locator('main h1').boundingBox())!.height).toBeLessThan(80);
  await page.getByRole('link', { name: 'the guides' }).click();
  await page.waitForURL('**/docs/guides');
});

test('At no width is anything wider than the screen, or a cell that holds text narrower than 200 px', async () => {
  const height = 844;
  await open({ viewport: { width: 390, height }, isMobile: true, hasTouch: true });
  const sizes = `({
    screen: innerWidth,
    page: document.documentElement.scrollWidth,
    narrow: [...document.querySelectorAll('tbody td:is(.response-col_description, .parameters-col_description)')]
      .filter((cell) => cell.offsetWidth < 200).map((cell) => cell.innerText),
  })`;
  for (const { operationId } of operations()) {
    await show(operationId);
    for (const width of [390, 768, 899]) {
      await page.setViewportSize({ width, height });
      const found = { operationId, ...(await page.evaluate<object>(sizes)) };
      expect(found).toEqual({ operationId, screen: width, page: width, narrow: [] });
    }
  }
});

test('On a phone the menu collapses, and no guide is wider than the screen', async () => {
  const window = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
  await open(window);
  const width = '[innerWidth, document.documentElement.scrollWidth]';
  expect(await menu().isVisible()).toBe(false);
  await page.getByRole('button', { name: 'Menu' }).tap();
  await menu().getByRole('link', { name: 'Account' }).tap();
  await menu().waitFor({ state: 'hidden' });
  await comesIntoView(page.locator('#operations-tag-Account'));
  for (const guide of GUIDES) {
    await page.goto(`http://${FOREIGN_HOST}:${service.port}${guidePath(guide)}`);
    expect([guide, await page.evaluate(width)]).toEqual([guide, [390, 390]]);
  }
});

/** At the end the window is wide. */
async function expectAccessible(place: string): Promise<void> {
  for (const width of [390, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    const { violations } = await page.evaluate<{ violations: { id: string; nodes: { html: string }[] }[] }>(
      `axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'], resultTypes: ['violations'] })`,
    );
    const found = violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]);
    expect([place, width, found]).toEqual([place, width, []]);
  }
}

test.each(['light', 'dark'] as const)(
  'axe finds no violation of WCAG 2.2 AA in the %s scheme',
  async (colorScheme) => {
    await open({ ...WIDE, colorScheme });
    await page.evaluate(AXE);
    await expectAccessible('the overview');
    await page.keyboard.press('Control+k');
    await expectAccessible('the search');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Authorize' }).click();
    await expectAccessible('the dialog for the key');
    await page.locator('.dialog-ux input').fill((await service.issueKey()).key);
    await page.keyboard.press('Enter');
    await page.locator('.limits svg').waitFor();
    await expectAccessible('the limits');
    await (await show('placeOrder')).locator('.try-out__btn').click();
    await expectAccessible('an operation');
    await page.goto(addressOf('/guides/limits'));
    await page.evaluate(AXE);
    await expectAccessible('a guide');
  },
);
