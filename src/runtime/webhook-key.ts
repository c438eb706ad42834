import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Settings, WEBHOOK_KEY_BYTES } from '../settings';
import { StartError } from './failures';

const KEY_FILE = 'webhook.key';

/** The key file in the folder of an embedded database: its content by its name. Empty if there is none. */
export async function webhookKeyFile(dataDirectory: string): Promise<Record<string, string>> {
  try {
    return { [KEY_FILE]: await readFile(join(dataDirectory, KEY_FILE), 'utf8') };
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
export async function withWebhookKey(settings: Settings): Promise<Settings> {
  if (settings.webhookKey !== undefined || settings.databaseUrl !== undefined) {
    return settings;
  }
  await mkdir(settings.dataDirectory, { recursive: true });
  const file = join(settings.dataDirectory, KEY_FILE);
  try {
    await writeFile(file, `${randomBytes(WEBHOOK_KEY_BYTES).toString('base64')}\n`, {
      flag: 'wx',
      mode: 0o600,
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw error;
    }
  }
  const webhookKey = Buffer.from(await readFile(file, 'utf8'), 'base64');
  if (webhookKey.length !== WEBHOOK_KEY_BYTES) {
    throw new StartError(
      `${file} does not hold a key of ${WEBHOOK_KEY_BYTES} bytes in base64. Restore it from a backup.`,
    );
  }
  return { ...settings, webhookKey };
}
