import type { Event, TestEvent } from './generated/api.ts';

/** Maximum age of a delivery in seconds, also into the future. It limits replays of an intercepted delivery. */
const TOLERANCE_SECONDS = 300;

/** Header fields of a request: from Node, from Fetch, or a plain object. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** The payload of a delivery: an event, or the test event of `POST /webhooks/{webhookId}/test`. */
export type WebhookEvent = Event | TestEvent;

/** The request is not a delivery of the service, or an old one. Respond 400 and do nothing else. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}

/**
 * Checks that the service sent this request for this webhook: its signature, by Standard Webhooks 1.0, and its time.
 * @param body as it was received, before any parsing
 * @param secret `whsec_…`, or several during a rotation
 * @returns the event
 * @throws WebhookVerificationError
 */
export async function verifyWebhook(
  headers: WebhookHeaders,
  body: string | Uint8Array,
  secret: string | readonly string[],
): Promise<WebhookEvent> {
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    fieldOf(headers, name),
  );
  if (id === undefined || timestamp === undefined || signatures === undefined) {
    throw new WebhookVerificationError('webhook-id, webhook-timestamp or webhook-signature is missing.');
  }
  const age = /^\d{1,12}$/.test(timestamp) ? Math.abs(Date.now() / 1_000 - Number(timestamp)) : Infinity;
  if (age > TOLERANCE_SECONDS) {
    throw new WebhookVerificationError('webhook-timestamp is not within five minutes of now.');
  }
  // Every byte must count: by default a decoder drops a byte order mark.
  const text = typeof body === 'string' ? body : new TextDecoder('utf-8', { ignoreBOM: true }).decode(body);
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`);
  const candidates = signatures.split(' ').flatMap((one) => (one.startsWith('v1,') ? [one.slice(3)] : []));
  for (const one of [secret].flat()) {
    const key = await keyOf(one);
    for (const candidate of candidates) {
      const signature = bytesOf(candidate);
      // Compares in constant time.
      if (signature !== undefined && (await crypto.subtle.verify('HMAC', key, signature, signed))) {
        return JSON.parse(text) as WebhookEvent;
      }
    }
  }
  throw new WebhookVerificationError('No signature was made with the secret.');
}

function fieldOf(headers: WebhookHeaders, name: string): string | undefined {
  if (headers instanceof Headers) {
    return headers.get(name) ?? undefined;
  }
  const [, value] = Object.entries(headers).find(([given]) => given.toLowerCase() === name) ?? [];
  // The service never repeats a header field.
  return typeof value === 'string' ? value : undefined;
}

function keyOf(secret: string) {
  const bytes = bytesOf(secret.replace(/^whsec_/, ''));
  if (bytes === undefined || bytes.length === 0) {
    // Do not print it: it may be a secret with a typo.
    throw new TypeError('The secret must be whsec_ followed by base64.');
  }
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}

/** The bytes of a base64 text; undefined if it is invalid. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
