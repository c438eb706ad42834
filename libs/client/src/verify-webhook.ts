import { Webhook } from 'standardwebhooks';
import type { StoreEvent, TestEvent } from './generated/types.ts';

/** Header fields of a request: from Node, from Fetch, or a plain object. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Checks that the service sent this request for this webhook: its signature, by Standard Webhooks 1.0, and its time.
 * @param body as it was received, before any parsing
 * @param secret `whsec_…`
 * @throws WebhookVerificationError if it is not a delivery of the service, or an old one
 */
export function verifyWebhook(headers: WebhookHeaders, body: string | Uint8Array, secret: string) {
  const given = headers instanceof Headers ? Object.fromEntries(headers) : headers;
  const fields = Object.entries(given).map(([name, value]) => [name, String(value ?? '')]);
  // Every byte must count: by default a decoder drops a byte order mark.
  const text = typeof body === 'string' ? body : new TextDecoder('utf-8', { ignoreBOM: true }).decode(body);
  const delivery = new Webhook(secret).verify(text, Object.fromEntries(fields) as Record<string, string>);
  return delivery as StoreEvent | TestEvent;
}
