import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keyIn, replaceWebhookKey } from '../../src/runtime/webhook-key';

let folder: string;
const put = (name: string, text: string) => writeFileSync(join(folder, name), text);
const content = () =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));

beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'petstore-key-'))));
afterEach(() => rmSync(folder, { recursive: true }));

describe('a restored webhook key', () => {
  it('replaces the one that was there, which is kept and can be put back', async () => {
    put('webhook.key', 'old');
    put('webhook.key.replaced', 'older');
    const undo = await replaceWebhookKey(folder, 'new');
    expect(content()).toEqual({ 'webhook.key': 'new', 'webhook.key.replaced': 'old' });
    await undo();
    expect(content()).toEqual({ 'webhook.key': 'old' });
  });

  it('goes again if there was none before, and an earlier one that was replaced stays', async () => {
    put('webhook.key.replaced', 'older');
    const undo = await replaceWebhookKey(folder, 'new');
    expect(content()).toEqual({ 'webhook.key': 'new', 'webhook.key.replaced': 'older' });
    await undo();
    expect(content()).toEqual({ 'webhook.key.replaced': 'older' });
  });

  it('is refused where the old one cannot be kept', async () => {
    put('webhook.key', 'old');
    mkdirSync(join(folder, 'webhook.key.replaced'));
    await expect(replaceWebhookKey(folder, 'new')).rejects.toThrow(/webhook\.key\.replaced/);
    expect(readdirSync(folder)).toEqual(['webhook.key', 'webhook.key.replaced']);
    expect(readFileSync(join(folder, 'webhook.key'), 'utf8')).toBe('old');
  });
});

it.each(['', 'c2hvcnQ=', '\u001b[2J../../x', `${'A'.repeat(43)}=x`])(
  'a key file with %j holds no key',
  (text) => {
    expect(keyIn(text)).toBeUndefined();
  },
);
