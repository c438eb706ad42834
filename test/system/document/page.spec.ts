import { readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { type Browser, type BrowserContextOptions, type Page, chromium } from 'playwright-core';
import { GUIDES, guidePath } from '../../../src/http/document/guides';
import { operationsOf } from '../../support/document';
import { until } from '../../support/eventually';
import { listen } from '../../support/ports';
import { CHROMIUM, findProgram } from '../../support/programs';
import { useStore } from '../../support/use-service';

/** A name of this machine. The browser treats the name like any other host, which it does not do with 127.0.0.1. */
const HOST = 'petstore.test';
const QUIET = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking'];
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const WIDE = { viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce' } as const;
const PHONE = { ...WIDE, viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true } as const;

const { service, arrange } = useStore({ settings: { trustProxy: ['127.0.0.1'] } });
let browser: Browser;
let page: Page;
/** Errors and warnings of the browser, and its requests to other hosts, in the present test. */
const complaints: string[] = [];

beforeAll(async () => {
  const args = [...QUIET, `--host-resolver-rules=MAP ${HOST} 127.0.0.1`];
  browser = await chromium.launch({ executablePath: findProgram(CHROMIUM), args });
});
afterAll(() => browser?.close());
afterEach(async () => {
  await page?.close();
  expect(complaints.splice(0)).toEqual([]);
});

const addressOf = (path: string, port = service.port) => `http://${HOST}:${port}${path}`;

/** Opens a page in a new window with an empty profile. */
async function open(window: BrowserContextOptions, path: string, port = service.port): Promise<void> {
  page = await browser.newPage(window);
  page.setDefaultTimeout(90_000);
  page.on('pageerror', ({ message }) => complaints.push(message));
  page.on('console', (line) => {
    if (['error', 'warning'].includes(line.type())) complaints.push(line.text());
  });
  page.on('request', (sent) => {
    const { protocol, host } = new URL(sent.url());
    if (protocol !== 'data:' && host !== `${HOST}:${port}`) complaints.push(sent.url());
  });
  await page.goto(addressOf(path, port));
}

/** All rules of WCAG 2.2 AA. */
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
/** The rules whose result depends on colours. */
const COLOURS = ['color-contrast', 'link-in-text-block'];

async function expectAccessible(name: string, runOnly = RULES): Promise<void> {
  await page.evaluate(AXE);
  const options = JSON.stringify({ runOnly, resultTypes: ['violations'] });
  // A change of colours has intermediate colours until the next frame, so this waits until no animation is left.
  await page.evaluate(
    `new Promise(function settle(done) {
       document.getAnimations().length === 0 ? done() : requestAnimationFrame(() => settle(done));
     })`,
  );
  const { violations } = await page.evaluate<{ violations: object[] }>(`axe.run(${options})`);
  expect([name, violations]).toEqual([name, []]);
}

/** Opens an operation of Swagger UI by a click or, if a key is given, by this key. */
async function show(id: string, key?: string) {
  const operation = page.locator(`[id$="-${id}"]`);
  const control = operation.locator('.opblock-summary-control');
  await (key === undefined ? control.click() : control.press(key));
  await operation.locator('.responses-wrapper').waitFor();
  return operation;
}

describe('Below a prefix that a proxy removes', () => {
  const proxy = createServer((incoming, response) => {
    const { method } = incoming;
    // Without this header field, Swagger UI would send requests to the root of the host.
    const headers = { ...incoming.headers, 'x-forwarded-prefix': '/shop' };
    const path = incoming.url!.replace(/^\/shop/, '');
    const passed = request({ port: service.port, path, method, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    incoming.pipe(passed);
  });
  let port: number;

  beforeAll(async () => void (port = await listen(proxy)));
  afterAll(() => proxy.close());

  test('the reference sends requests with the key that it keeps to the address that served it, without headers nobody typed, and shows samples, errors and deliveries', async () => {
    /** An operation, by its method and path. */
    const operation = (name: string) => page.locator(`section[id$="/${name.replace(' ', '')}"]`);
    const tried = (name: string) => operation(name).getByRole('button', { name: 'Test Request' });
    const keyField = () => page.locator('input[placeholder]:visible').first();
    const { key } = await service.issueKey({ plan: 'free' });
    const pets = [await arrange.pet(), await arrange.pet(), await arrange.pet(undefined, 2)];
    await open(WIDE, '/shop/docs#tag/orders/POST/store/orders', port);
    await tried('POST /store/orders').waitFor();
    await until(async () => (await page.title()) === 'Place an order · Pet Store');
    const contents = await page.getByRole('complementary').first().innerText();
    const { 'x-tagGroups': tagGroups } = service.document as unknown as {
      'x-tagGroups': { name: string; tags: string[] }[];
    };
    const groups = tagGroups.flatMap(({ name, tags }) => [name, ...tags]);
    expect(contents.split('\n').filter((line) => groups.includes(line))).toEqual(groups);
    // For GET, the document turns the button off.
    expect(await tried('GET /store/orders').isHidden()).toBe(true);
    // The choice between light and dark colours holds for all pages.
    await expectAccessible('the reference, light');
    // A link scrolls its target to just below the header, which is 50 pixels high.
    const { y } = (await operation('POST /store/orders').getByRole('heading').first().boundingBox())!;
    expect(y).toBeGreaterThan(50);
    expect(y).toBeLessThan(110);
    await page.getByRole('link', { name: 'Skip to the content' }).press('Enter');
    expect(await page.evaluate('document.activeElement.tagName')).toBe('MAIN');
    await page.getByRole('button', { name: 'Search' }).first().click();
    await page.keyboard.insertText('too_many_webhooks');
    await page.getByRole('option', { name: 'Create a webhook' }).first().waitFor();
    expect(await page.getByRole('combobox').first().getAttribute('aria-expanded')).toBe('true');
    await page.keyboard.press('Escape');
    expect(await keyField().getAttribute('placeholder')).toBe('psk_live_…');
    await page.getByRole('button', { name: 'Dark colours' }).click();
    await expectAccessible('the reference, dark', COLOURS);
    await keyField().fill(key);
    await until(async () => (await page.evaluate<string>('JSON.stringify(localStorage)')).includes(key));
    await tried('POST /store/orders').click();
    const panel = page.locator('[role=dialog]');
    const send = () => panel.getByRole('button', { name: 'Send' }).first().click();
    const answer = page.waitForResponse(addressOf('/shop/store/orders', port));
    await send();
    const { 'x-api-key': sent, 'idempotency-key': once } = await (await answer).request().allHeaders();
    expect([sent, once]).toEqual([key, undefined]);
    await panel.getByText('201 Created').waitFor();
    // The button for colours is hidden, because the button that closes the panel has the same place.
    expect(await page.locator('.site button').isHidden()).toBe(true);

    // The request has the text of the editor, even if it is sent right after typing.
    const editor = panel.locator('.cm-content').first();
    for (const [index, press] of [send, () => page.keyboard.press('Control+Enter')].entries()) {
      const body = `{"petId": ${pets[index + 1]!.id}}`;
      await editor.click();
      await page.keyboard.press('Control+A');
      await page.keyboard.type(body);
      const request = page.waitForRequest(addressOf('/shop/store/orders', port));
      await press();
      expect((await request).postData()).toBe(body);
      await panel.getByText(`"petId": ${pets[index + 1]!.id},`).waitFor();
    }
    // The request also has a character that was deleted and typed again.
    await page.keyboard.press('Backspace');
    await page.keyboard.type('}');
    const repeated = page.waitForRequest(addressOf('/shop/store/orders', port));
    await send();
    expect((await repeated).postData()).toBe(`{"petId": ${pets[2]!.id}}`);
    await panel.getByText('201 Created').waitFor();

    await page.setViewportSize(PHONE.viewport);
    await page.goto(addressOf('/shop/docs?again#tag/webhooks/POST/webhooks', port));
    const shown = operation('POST /webhooks');
    await shown.getByText('{$request.body#/url}').click();
    await shown.getByText('webhook-signature', { exact: true }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(PHONE.viewport.width);
    const statuses = shown.getByRole('tablist').last();
    expect(await statuses.evaluate((list) => list.scrollWidth - list.clientWidth)).toBe(0);
    // The name of a plan fits on one line.
    expect((await page.getByText('business', { exact: true }).boundingBox())!.height).toBeLessThan(50);
    expect(await shown.innerText()).toContain(`curl -i -X POST ${addressOf('/shop/webhooks', port)}`);
    expect(await shown.getByText('experimental', { exact: true }).count()).toBe(1);
    expect(await shown.getByText('too_many_webhooks').count()).toBeGreaterThan(0);
    expect(await page.evaluate<string>('JSON.stringify(localStorage)')).toContain(key);

    await page.setViewportSize(WIDE.viewport);
    await page.goto(addressOf('/shop/docs?again#tag/animals/GET/pets', port));
    await tried('GET /pets').click();
    const row = panel.getByRole('row').filter({ has: page.getByLabel('Include status in request') });
    await row.getByRole('button').first().click();
    for (const value of ['available', 'sold']) await page.getByRole('option', { name: value }).click();
    const list = page.waitForRequest((one) => one.url().includes('/shop/pets'));
    await send();
    expect((await list).url()).toBe(addressOf('/shop/pets?status=available&status=sold', port));
    await panel.getByText('200 OK').first().waitFor();

    await page.goto(addressOf('/shop/docs/guides/limits', port));
    await page.getByRole('button', { name: 'Light colours' }).waitFor();
  });

  test('Swagger UI lists all operations, hides the panel of one, fills in no header, and sends to the address that served it', async () => {
    const operations = [...operationsOf(service.document).values()];
    await open(WIDE, '/shop/docs/guides/limits', port);
    await page.getByRole('link', { name: 'Swagger UI' }).click();
    await page.locator('.opblock').first().waitFor();
    expect(page.url()).toBe(addressOf('/shop/swagger', port));
    expect(await page.locator('.opblock').count()).toBe(operations.length);
    // Swagger UI shows no section for a group without operations.
    expect(await page.locator('.opblock-tag').count()).toBe(
      new Set(operations.flatMap(({ tags }) => tags)).size,
    );
    expect(await (await show('listOrders')).locator('.try-out__btn').count()).toBe(0);
    const { key } = await service.issueKey();
    await page.getByRole('button', { name: 'Authorize' }).first().click();
    await expectAccessible('the dialog of Swagger UI, light');
    await page.locator('.dialog-ux input').first().fill(key);
    await page.locator('.dialog-ux .authorize').first().click();
    await page.locator('.dialog-ux .btn-done').first().click();
    const created = await show('createCategory');
    await created.locator('.try-out__btn').click();
    expect(await created.locator('[data-param-name=Idempotency-Key] input').inputValue()).toBe('');
    await created.locator('.execute').click();
    await created.locator('.live-responses-table').getByText('201', { exact: true }).waitFor();
    expect(await created.locator('.request-url').innerText()).toContain(addressOf('/shop/categories', port));
    await expectAccessible('an operation of Swagger UI, light');
    await page.getByRole('button', { name: 'Dark colours' }).click();
    await expectAccessible('an operation of Swagger UI, dark', COLOURS);
    // On a phone, the description of a header is as wide as the response.
    await page.setViewportSize(PHONE.viewport);
    await created
      .getByText(/^Headers \(\d+\)$/)
      .first()
      .click();
    const description = created.locator('.headers td:nth-child(2)').first();
    expect((await description.boundingBox())!.width).toBeGreaterThan(280);
    // The tabs and the button above the parameters fit, too.
    await (await show('createWebhook')).locator('.try-out__btn').click();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(PHONE.viewport.width);
  });
});

describe('Swagger UI', () => {
  it('keeps the focus in its dialog and gives it back, names the fields, and shows why a value is refused instead of the previous response', async () => {
    const { key } = await service.issueKey();
    const focused = () =>
      page.evaluate('document.activeElement.ariaLabel ?? document.activeElement.innerText.trim()');
    await open(WIDE, '/swagger');
    await page.locator('.opblock').first().waitFor();
    await page.getByRole('button', { name: 'Orders', exact: true, expanded: true }).waitFor();
    await page.getByRole('link', { name: 'Skip to the content' }).press('Enter');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('openapi.json');

    const dialog = page.getByRole('dialog', { name: 'Available authorizations' });
    const openers = page.getByRole('button', { name: 'Authorize (no key is set)' });
    expect(await openers.count()).toBeGreaterThan(1);
    for (const opener of [openers.first(), openers.last()]) {
      await opener.press('Enter');
      expect(await focused()).toBe('Value of apiKey');
      for (let tabs = 0; tabs < 8; tabs++) {
        await page.keyboard.press('Tab');
        // After the last button, the browser itself gets the focus, and the page has none.
        expect(await page.evaluate("document.activeElement.matches('body, dialog *')")).toBe(true);
      }
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      expect(await opener.evaluate((button) => button.matches(':focus'))).toBe(true);
    }
    await openers.first().press('Enter');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.validity.valueMissing')).toBe(true);
    await page.keyboard.insertText('  ');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.validationMessage')).toContain('than spaces');
    await page.keyboard.insertText(`“${key}”`);
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.validationMessage')).toContain('no curly quotes');
    await page.keyboard.press('Control+A');
    await page.keyboard.insertText(key);
    await page.keyboard.press('Enter');
    await until(async () => (await focused()) === 'Close');
    await page.keyboard.press('Escape');
    expect(await focused()).toBe('Authorize (a key is set)');

    const list = await show('listPets', 'Enter');
    await list.getByRole('button', { name: 'Try it out' }).press('Enter');
    const execute = list.getByRole('button', { name: 'Execute' });
    const field = (name: string) => list.getByRole('textbox', { name, exact: true });
    const response = list.locator('.live-responses-table');
    await list.getByRole('button', { name: 'Add integer item' }).press('Enter');
    expect(await field('id').inputValue()).toBe('');
    await execute.press('Enter');
    await list.getByText('Response 200').waitFor({ state: 'attached' });
    await until(async () => (await focused()) === 'Execute');
    expect(await response.innerText()).toContain(' cache-control: private, no-cache');
    await field('If-None-Match').fill('*');
    await execute.press('Enter');
    await response.getByText('304', { exact: true }).waitFor();
    expect(await response.innerText()).not.toContain('Error');
    await field('id').fill('x');
    await field('limit').fill('0');
    await execute.press('Enter');
    await response.waitFor({ state: 'detached' });
    const stateOf = (name: string) =>
      field(name).evaluate((part) => {
        const description = part.ownerDocument.getElementById(part.getAttribute('aria-describedby')!);
        return [part.ariaInvalid, description!.innerText];
      });
    const message = 'Value must be greater than or equal to 1';
    await list.getByText(message, { exact: true }).waitFor();
    expect(await stateOf('limit')).toEqual(['true', message]);
    expect(await stateOf('id')).toEqual(['true', 'Item 1: Value must be an integer']);
    expect(await stateOf('name')).toEqual(['false', '']);
    // An error is one line until a click.
    const line = list.getByRole('button', { name: '412 precondition_failed', exact: true });
    const error = list.locator('.response[data-code="412"]');
    for (const isOpen of [true, false, true]) {
      expect(await error.count()).toBe(isOpen ? 0 : 1);
      await line.press('Enter');
      await until(async () => (await line.getAttribute('aria-expanded')) === String(isOpen));
    }
    await error.getByText('The resource has none of the ETags').first().waitFor();
    await expectAccessible('refused values, light');

    const created = await show('createWebhook', 'Enter');
    await created.getByRole('button', { name: 'Callbacks' }).press('Enter');
    await created.getByText('Receive an event').waitFor();
    await created.getByRole('button', { name: 'Parameters' }).press(' ');
    await created.getByRole('button', { name: 'Try it out' }).press('Enter');
    await created.getByRole('textbox', { name: 'Request body' }).fill('');
    await created.getByRole('button', { name: 'Execute' }).press('Enter');
    await created.getByText('Required field is not provided').waitFor();
    await (await show('replacePet')).getByRole('button', { name: 'Try it out' }).press('Enter');
    await page.getByRole('button', { name: 'Dark colours' }).click();
    await expectAccessible('refused values, dark', COLOURS);
    // The focus is visible in dark colours, too.
    await created.locator('.opblock-summary-control').press('Shift');
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
  });
});

describe('Swagger UI on a phone', () => {
  it('follows a change of the address, and opens an operation without an entry in the history', async () => {
    const guide = addressOf(guidePath('limits'));
    // The operation that an address names is scrolled to just below the header of the page.
    const isBelowHeader = (id: string) =>
      until(async () => {
        const place = await page.locator(`[id$="-${id}"]`).boundingBox();
        return place !== null && place.y > 49 && place.y < 100;
      });
    await open({ ...PHONE, colorScheme: 'dark' }, guidePath('limits'));
    await page.goto(addressOf('/swagger#/Orders/placeOrder'));
    await isBelowHeader('placeOrder');
    await page.goto(addressOf('/swagger#/Webhooks/createWebhook'));
    await isBelowHeader('createWebhook');
    const created = page.locator('[id$="-createWebhook"]');
    await created.getByRole('button', { name: 'Callbacks' }).click();
    await created.getByText('Receive an event').click();
    const parameter = created.getByRole('textbox', { name: 'webhook-id' });
    expect((await parameter.boundingBox())!.width).toBeGreaterThan(250);
    await expectAccessible('callbacks, dark', COLOURS);
    await created.getByText('2XX', { exact: true }).waitFor();
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
    await page.setViewportSize(PHONE.viewport);
    await page.getByRole('button', { name: 'Schemas' }).click();
    const names = await page.locator('.models .model-container').evaluateAll((schemas) => {
      return schemas.map((schema) => schema.getAttribute('data-name'));
    });
    expect(names).toContain('Order');
    expect(names).toEqual(names.toSorted());
    await page.getByRole('button', { name: 'Order', exact: true }).click();
    await page.locator('#model-Order').getByText('Number of units ordered.').waitFor();
    await page.goBack();
    await isBelowHeader('placeOrder');
    await page.goBack();
    expect(page.url()).toBe(guide);
    // The last operation can be scrolled to just below the header although its content is not on the page yet.
    await page.goto(addressOf('/swagger#/Account/getUsage'));
    await isBelowHeader('getUsage');
    // Swagger UI would throw an error for a malformed address.
    const list = addressOf('/swagger?again#');
    for (const malformed of ['/%ZZ/loaded', '/%ZZ/changed']) {
      await page.goto(list + malformed);
      await page.locator('.opblock').first().waitFor();
      await until(() => page.url() === list);
    }
  });

  it('says that it needs JavaScript', async () => {
    await open({ ...PHONE, javaScriptEnabled: false }, '/swagger');
    await page.getByText('Swagger UI needs JavaScript').waitFor();
  });
});

describe('A guide', () => {
  it('has commands that can be copied', async () => {
    await open(WIDE, guidePath('getting-started'));
    const copy = page.getByRole('button', { name: 'Copy' }).first();
    await copy.click();
    await page.getByText('Copied').waitFor();
    expect(await page.evaluate('getSelection().toString()')).toContain(`BASE=${addressOf('')}`);
    // Readers have to save the body of the example delivery exactly as it is.
    await page.goto(addressOf(guidePath('events')));
    await page.locator('pre:has([data-name="body.json"])').getByRole('button', { name: 'Copy' }).click();
    expect(await page.evaluate('getSelection().toString()')).toMatch(/^\{"id":"evt_.*\}\}\n?$/);
  });

  it('is no wider than the screen of a phone, and breaks no rule of WCAG 2.2 AA, light or dark', async () => {
    await open(PHONE, guidePath('README'));
    for (const name of GUIDES) {
      await page.goto(addressOf(guidePath(name)));
      expect([name, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([name, 390]);
      await page.emulateMedia({ colorScheme: 'light' });
      await expectAccessible(name);
      await page.emulateMedia({ colorScheme: 'dark' });
      // These two guides have tables, and code in every language.
      if (['getting-started', 'events'].includes(name)) await expectAccessible(`${name}, dark`, COLOURS);
    }
    // 320 pixels is the least width that WCAG asks for.
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
    // Where the window is wide, the contents stand beside the text.
    await page.setViewportSize(WIDE.viewport);
    await expectAccessible('the last guide, wide');
  });
});
