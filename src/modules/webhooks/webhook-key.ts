// The key that encrypts the secrets of webhooks: that of the settings, or a file in the folder of an embedded database.
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readOrCreateSecret } from '#libs/embedded-postgres';
import type { CopiedFile } from '../../features';
import { OperatorError } from '../../operator-error';
import { type Settings, WEBHOOK_KEY_BYTES } from '../../settings';

const WEBHOOK_KEY_FILE = 'webhook.key';

/** The key file that the store uses; undefined if its key is in WEBHOOK_KEY, or if it has none. */
export function webhookKeyFile({ webhookKey, databaseUrl, dataDirectory }: Settings): CopiedFile | undefined {
  const path = join(dataDirectory, WEBHOOK_KEY_FILE);
  const hint = `The secrets of webhooks are encrypted with the key in ${path}: set WEBHOOK_KEY to its text.`;
  return webhookKey === undefined && databaseUrl === undefined && existsSync(path)
    ? { path, hint }
    : undefined;
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
  const file = join(settings.dataDirectory, WEBHOOK_KEY_FILE);
  const text = readOrCreateSecret(file, () => randomBytes(WEBHOOK_KEY_BYTES).toString('base64'));
  const webhookKey = Buffer.from(text, 'base64');
  if (webhookKey.length !== WEBHOOK_KEY_BYTES || webhookKey.toString('base64') !== text) {
    throw new OperatorError(
      `${file} does not hold a key of ${WEBHOOK_KEY_BYTES} bytes in base64. Restore it from a backup.`,
      'cannot_start',
    );
  }
  return { ...settings, webhookKey };
}
