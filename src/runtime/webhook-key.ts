import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Settings, WEBHOOK_KEY_BYTES } from '../settings';
import { StartError } from './failures';

const KEY_FILE = 'webhook.key';

/** The key in the folder of an embedded database, by its file's name; none where `WEBHOOK_KEY` is used. */
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
 * The settings with the key for the secrets of webhooks: that of `WEBHOOK_KEY`, or with an embedded database the one in
 * its folder, which is made at the first start. With any other database there is none to be made here: all instances
 * need the same.
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
