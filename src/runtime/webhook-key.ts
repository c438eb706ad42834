import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
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
  try {
    return { [WEBHOOK_KEY_FILE]: await readFile(join(settings.dataDirectory, WEBHOOK_KEY_FILE), 'utf8') };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return {};
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
  const webhookKey = Buffer.from(text, 'base64');
  if (webhookKey.length !== WEBHOOK_KEY_BYTES) {
    throw new StartError(
      `${join(dataDirectory, WEBHOOK_KEY_FILE)} does not hold a key of ${WEBHOOK_KEY_BYTES} bytes in base64. Restore it from a backup.`,
    );
  }
  return { ...settings, webhookKey };
}

/**
 * Makes this the key file of an embedded database. The one that was there is kept beside it.
 * @param text the content of another key file
 * @returns puts the one that was there back
 */
export async function replaceWebhookKey(dataDirectory: string, text: string): Promise<() => Promise<void>> {
  const file = join(dataDirectory, WEBHOOK_KEY_FILE);
  if ((await readFile(file, 'utf8').catch(() => undefined)) === text) {
    return () => Promise.resolve();
  }
  const [staged, replaced] = [`${file}.${randomBytes(6).toString('hex')}`, `${file}.replaced`];
  await writeFile(staged, text, { flag: 'wx', mode: 0o600 });
  const wasThere = await rename(file, replaced).then(
    () => true,
    () => false,
  );
  await rename(staged, file);
  return () => (wasThere ? rename(replaced, file) : Promise.resolve());
}
