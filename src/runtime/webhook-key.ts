import { randomBytes } from 'node:crypto';
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { keepSecret } from '#libs/embedded-postgres';
import { type Settings, WEBHOOK_KEY_BYTES } from '../settings';
import { StartError } from './failures';

/** The file in the folder of an embedded database, and its name in a backup. */
export const WEBHOOK_KEY_FILE = 'webhook.key';

/** The key file that the store uses: its content by its name. Empty if its key is in WEBHOOK_KEY, or if it has none. */
export async function webhookKeyFile(settings: Settings): Promise<Record<string, string>> {
  if (settings.webhookKey !== undefined || settings.databaseUrl !== undefined) {
    return {};
  }
  const text = await readIfThere(join(settings.dataDirectory, WEBHOOK_KEY_FILE));
  return text === undefined ? {} : { [WEBHOOK_KEY_FILE]: text };
}

/** The key in the text of a key file; undefined if it holds none. */
export function keyIn(text: string): Buffer | undefined {
  const key = Buffer.from(text, 'base64');
  return key.length === WEBHOOK_KEY_BYTES && key.toString('base64') === text.trim() ? key : undefined;
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return undefined;
    }
    throw error;
  }
}

/**
 * Adds the key that encrypts the secrets of webhooks. `WEBHOOK_KEY` takes precedence. An embedded database keeps its
 * key in its folder, created at the first start. For an external database no key is created: all instances need the
 * same one.
 */
export function withWebhookKey(settings: Settings): Settings {
  if (settings.webhookKey !== undefined || settings.databaseUrl !== undefined) {
    return settings;
  }
  const { dataDirectory } = settings;
  const text = keepSecret(dataDirectory, WEBHOOK_KEY_FILE, () =>
    randomBytes(WEBHOOK_KEY_BYTES).toString('base64'),
  );
  const webhookKey = keyIn(text);
  if (webhookKey === undefined) {
    throw new StartError(
      `${join(dataDirectory, WEBHOOK_KEY_FILE)} does not hold a key of ${WEBHOOK_KEY_BYTES} bytes in base64. Restore it from a backup.`,
    );
  }
  return { ...settings, webhookKey };
}

/**
 * Makes this the key file of an embedded database. The one that was there is kept beside it. At no time is there none.
 * @param text the content of another key file
 * @returns undoes it
 * @throws errors of the system; the one that was there is still in its place then
 */
export async function replaceWebhookKey(dataDirectory: string, text: string): Promise<() => Promise<void>> {
  const file = join(dataDirectory, WEBHOOK_KEY_FILE);
  const previous = await readIfThere(file);
  if (previous === text) {
    return () => Promise.resolve();
  }
  const [staged, replaced] = [`${file}.${randomBytes(6).toString('hex')}`, `${file}.replaced`];
  try {
    await writeFile(staged, text, { flag: 'wx', mode: 0o600 });
    if (previous !== undefined) {
      await rm(replaced, { force: true });
      await link(file, replaced);
    }
    await rename(staged, file);
  } catch (error) {
    await rm(staged, { force: true });
    throw error;
  }
  // Without a key file the next start makes one.
  return () => (previous === undefined ? rm(file) : rename(replaced, file));
}
