import { type Values, networks, readerFor, variable } from '../../settings/environment';
import type { Settings } from '../../settings/settings';

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
   * Key that encrypts the secrets of webhooks. With the embedded database, the service creates a key beside the data. With
   * an external database, webhooks can be created only if this key is set.
   */
  webhookKey: variable('WEBHOOK_KEY', webhookKey, undefined, { secret: true }),
};

export type WebhookSettings = Settings & Values<typeof WEBHOOK_VARIABLES>;
