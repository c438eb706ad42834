import type { Browser, Locator, Page } from 'playwright-core';
import { FOREIGN_HOST, startBrowser } from '../../support/browser';
import { useService } from '../../support/use-service';
import { TABLE } from '../../http/document/support/operations-table';
import { FAINT_ELEMENTS } from './support/contrast';
import { until } from '../../support/eventually';

const service = useService();
let browser: Browser;
let page: Page;
/** What the browser complained of, and what it asked other hosts for, in the test that runs. */
const complaints: string[] = [];

const addressOf = (link: string) => `http://${FOREIGN_HOST}:${service.port}/docs${link}`;

/** Opens the page in a window of its own, with a profile that is empty. */
async function open(window: Parameters<Browser['newPage']>[0]): Promise<void> {
  page = await browser.newPage(window);
  page.setDefaultTimeout(90_000);
  page.on('pageerror', ({ message }) => complaints.push(message));
  page.on('console', (line) => {
    if (line.type() === 'error') {
      complaints.push(line.text());
    }
  });
  page.on('request', (request) => {
    const { protocol, host } = new URL(request.url());
    if (protocol !== 'data:' && host !== `${FOREIGN_HOST}:${service.port}`) {
      complaints.push(request.url());
    }
  });
  await page.goto(addressOf(''));
  await page.locator('.opblock').first().waitFor();
}

beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(() => browser?.close());
afterEach(() => {
  expect(complaints.splice(0)).toEqual([]);
});

const operation = (name: string) => page.locator(`[id^="operations-"][id$="-${name}"]`);
const menu = () => page.getByRole('navigation', { name: 'Contents' });
const texts = (selector: string) => page.locator(selector).allTextContents();

async function unfold(name: string): Promise<Locator> {
  await operation(name).locator('.opblock-summary-control').click();
  await operation(name).locator('.opblock-body .responses-wrapper').waitFor();
  return operation(name);
}

/** Waits until the element is at the top of the window, or as near to that as the end of the page lets it come. */
async function comesIntoView(element: Locator): Promise<void> {
  await element.waitFor();
  await until(async () => {
    const { y } = (await element.boundingBox())!;
    return y >= -2 && y < 500;
  });
}

describe('On a wide screen, the page', () => {
  beforeAll(() => open({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce' }));
  afterAll(() => page?.close());

  it('loads without a complaint of the browser, from its own host alone', async () => {
    expect(await page.title()).toBe('Pet Store');
    expect(await page.locator('.opblock').count()).toBe(TABLE.length);
  });

  it('shows the tags as a tree: two groups with their parts, then the account', async () => {
    const store = ['Store', '› Orders', '› Inventory'];
    const parts = ['Pets', '› Animals', '› Categories', ...store, 'Events', 'Account'];
    const entries = await menu().locator('li').all();
    const levels = entries.map(async (entry) => {
      const depth = await entry.locator('xpath=ancestor::li').count();
      return `${'› '.repeat(depth)}${await entry.locator('a').first().textContent()}`;
    });
    expect(await Promise.all(levels)).toEqual([...parts, 'Schemas']);
    expect(await texts('main :is(h2, h3 a)')).toEqual(parts.map((part) => part.replace('› ', '')));
    const inside = (group: string) =>
      page.getByRole('region', { name: group }).locator('h3 a').allTextContents();
    expect(await inside('Pets')).toEqual(['Animals', 'Categories']);
    expect(await inside('Store')).toEqual(['Orders', 'Inventory']);
  });

  it('marks what is deprecated, with its sunset, and what is not stable yet', async () => {
    const badges = (name: string) => operation(name).locator('.petstore-badge').allTextContents();
    expect(await badges('getPet')).toEqual(['deprecated, sunset 2027-11-01']);
    expect(await operation('getPet').locator('.opblock-summary-path__deprecated').count()).toBe(1);
    expect(await badges('updatePet')).toEqual(['beta']);
    expect(await badges('adjustInventory')).toEqual(['experimental']);
    expect(await badges('listPets')).toEqual([]);
    const marked = TABLE.filter(({ markers = {} }) => 'x-stability' in markers || markers.deprecated);
    expect(await page.locator('.petstore-badge').count()).toBe(marked.length);
  });

  it('has a button to try every operation but the one that is marked so', async () => {
    expect(await (await unfold('listOrders')).locator('.try-out__btn').count()).toBe(0);
    expect(await (await unfold('placeOrder')).locator('.try-out__btn').count()).toBe(1);
  });

  it('fills in nothing that may be left out: the example of an If-Match would fail what is tried', async () => {
    const tried = await unfold('deletePet');
    await tried.locator('.try-out__btn').click();
    expect(await tried.locator('[data-param-name=If-Match] input').inputValue()).toBe('');
  });

  it('finds operations by their words, and reports when there are none', async () => {
    const field = page.getByRole('search').getByLabel('Find an operation');
    await field.fill('experimental stock');
    await until(async () => (await page.locator('.opblock').count()) === 1);
    expect(await texts('main :is(h2, h3 a)')).toEqual(['Store', 'Inventory']);
    await field.fill('Create POST');
    await until(
      async () =>
        (await texts('.opblock-summary-description')).join() ===
        'Create a pet,Create a category,Create a webhook',
    );
    await field.fill('unicorn');
    await page.getByText('No operation matches.').waitFor();
    await menu().getByRole('link', { name: 'Orders' }).click();
    await comesIntoView(operation('listOrders'));
  });

  it('opens what a link names, on the open page too', async () => {
    await menu().getByRole('link', { name: 'Inventory' }).click();
    await comesIntoView(page.locator('#operations-tag-Inventory'));
    await menu().getByRole('link', { name: 'Pets' }).click();
    await comesIntoView(page.locator('#operations-tag-Pets'));
    await page.evaluate(`location.hash = '#/Animals/createPet'`);
    await operation('createPet').locator('.opblock-body').waitFor();
    await comesIntoView(operation('createPet'));
  });

  it.each(['dark', 'light'] as const)(
    'can be read in the %s scheme, which follows the reader',
    async (scheme) => {
      await page.emulateMedia({ colorScheme: scheme });
      const ground = 'getComputedStyle(document.body).backgroundColor';
      await until(async () => ((await page.evaluate(ground)) === 'rgb(28, 32, 34)') === (scheme === 'dark'));
      const summaries = ['.opblock-summary-method', '.opblock-summary-description', '.petstore-badge'];
      const read = [...summaries, 'nav a', 'h1', 'h2', 'h3 a', 'h3 small', '.info p', '.authorize', 'label'];
      expect(await page.evaluate<string[]>(`(${FAINT_ELEMENTS})(${JSON.stringify(read)})`)).toEqual([]);
    },
  );

  it('can be used from the keyboard, and has its parts named', async () => {
    for (const role of ['banner', 'navigation', 'search', 'main'] as const) {
      expect([role, await page.getByRole(role).count()]).toEqual([role, 1]);
    }
    const focused = (property: string) => page.evaluate<string>(`document.activeElement.${property}`);
    await page.getByText('Skip to the operations').focus();
    await page.keyboard.press('Enter');
    await until(async () => (await focused('id')) === 'operations');

    await page.getByRole('button', { name: 'Authorize' }).focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'API key' });
    await until(async () => (await focused('id')) === 'api_key_value');
    expect(await dialog.getByRole('textbox').count()).toBe(1);
    expect(await dialog.getByRole('button', { name: 'Close' }).count()).toBe(2);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(await focused('textContent')).toBe('Authorize');
  });

  it('tries an operation with the key, shows the answer with its headers, and forgets the key', async () => {
    const { key } = await service.issueKey({ plan: 'free' });
    await page.getByRole('button', { name: 'Authorize' }).click();
    await page.getByLabel('Value:').fill(key);
    await page.getByRole('button', { name: 'Apply credentials' }).click();
    await page.keyboard.press('Escape');
    const tried = await unfold('listPets');
    await tried.locator('.try-out__btn').click();
    await tried.locator('[data-param-name=limit] input').fill('2');
    await tried.locator('.execute').click();
    const answer = tried.locator('.live-responses-table .response');
    expect(await answer.locator('.response-col_status').innerText()).toBe('200');
    expect(await answer.locator('.response-col_description').innerText()).toMatch(
      /x-ratelimit-limit: 60\s[^]*x-ratelimit-remaining: 59\s[^]*x-ratelimit-reset: \d+/,
    );
    const command = await tried.locator('.curl-command pre').innerText();
    expect(command).toContain(`/pets?limit=2' \\\n`);
    expect(command).toContain(`-H 'X-API-Key: ${key}'`);

    const kept = 'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])';
    expect(await page.evaluate(kept)).toBe('[{},{},""]');
    await page.goto('about:blank');
    await page.goto(addressOf('#/Orders/placeOrder'));
    await operation('placeOrder').locator('.opblock-body').waitFor();
    await comesIntoView(operation('placeOrder'));
    await page.getByRole('button', { name: 'Authorize' }).click();
    expect(await page.getByLabel('Value:').inputValue()).toBe('');
  });
});

test('On a phone, nothing but the menu is wider than the screen, with every operation open', async () => {
  await open({ viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
  await page.evaluate(
    `document.querySelectorAll('.opblock-summary-control').forEach((control) => control.click())`,
  );
  await until(async () => (await page.locator('.opblock-body .responses-wrapper').count()) === TABLE.length);
  expect(await page.evaluate('[innerWidth, document.documentElement.scrollWidth]')).toEqual([390, 390]);

  await page.evaluate('scrollTo(0, 5000)');
  await until(async () => (await menu().boundingBox())!.y === 0);
  await menu().getByRole('link', { name: 'Account' }).tap();
  await comesIntoView(page.locator('#operations-tag-Account'));
  await page.close();
});
