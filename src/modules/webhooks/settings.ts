import { type Values, networks, readerFor, variable } from '../../runtime/environment';
import type { Settings } from '../../settings';

export const WEBHOOK_KEY_BYTES = 32;

/** Decodes a key. Returns undefined if the text is not the base64 of 32 bytes. */
export function webhookKeyIn(text: string): Buffer | undefined {
  const key = Buffer.from(text, 'base64');
  return key.length === WEBHOOK_KEY_BYTES && key.toString('base64') === text ? key : undefined;
}

const webhookKey = readerFor('32 random bytes in base64 (openssl rand -base64 32)', webhookKeyIn, '…');

export const WEBHOOK_VARIABLES = {
  webhookNetworks: variable('WEBHOOK_NETWORKS', networks, []),
  /**
   * Key that encrypts the secrets of webhooks. If the database is external and there is no key, no webhook can be
   * created.
   */
  webhookKey: variable('WEBHOOK_KEY', webhookKey, undefined, { secret: true }),
};

export type WebhookSettings = Settings & Values<typeof WEBHOOK_VARIABLES>;
