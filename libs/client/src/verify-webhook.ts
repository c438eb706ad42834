import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import type { WebhookEvent } from './generated/types.ts';

/** Header fields of a request: from Node, from Fetch, a plain object, or anything with `get`, which takes names in lower case. */
export type WebhookHeaders =
  | Iterable<readonly [string, string]>
  | { get(name: string): unknown }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** The header fields that Standard Webhooks 1.0 defines. */
const FIELDS = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
const SECRET = /^(?:whsec_)?[A-Za-z0-9+/]{32,86}={0,2}$/;

/**
 * Checks that the service sent this request for this webhook: its signature, by Standard Webhooks 1.0, and its time.
 * @param body as it was received, before any parsing
 * @param secret `whsec_…`
 * @throws WebhookVerificationError if it is not a delivery of the service, or an old one; TypeError for arguments that no
 * request can cause: your set-up is wrong
 */
export function verifyWebhook(
  headers: WebhookHeaders,
  body: string | Uint8Array | ArrayBuffer,
  secret: string,
): WebhookEvent {
  const key: unknown = typeof secret === 'string' ? secret.trim() : secret;
  if (typeof key !== 'string' || !SECRET.test(key)) {
    const problem = key === undefined || key === '' ? 'is missing' : 'is not one of a webhook';
    throw new TypeError(`The secret ${problem}: it is whsec_ and base64, as createWebhook has shown it.`);
  }
  const text = textOf(body);
  const fields = fieldsOf(headers);
  if (text === '') {
    throw new WebhookVerificationError(
      'The body is empty. If it was not when it came, something has read it before.',
    );
  }
  return new Webhook(key).verify(text, fields) as WebhookEvent;
}

function textOf(body: string | Uint8Array | ArrayBuffer): string {
  if (typeof body === 'string') return body;
  try {
    // Every byte must count: by default a decoder drops a byte order mark. Without bytes it would return an empty text.
    if (body !== undefined) return new TextDecoder('utf-8', { ignoreBOM: true }).decode(body);
  } catch {
    // It is neither text nor bytes.
  }
  throw new TypeError('The body must be the unparsed body of the request, as text or bytes.');
}

function fieldsOf(headers: WebhookHeaders): Record<string, string> {
  const { headers: inside, get } = (headers ?? {}) as { headers?: unknown; get?: unknown };
  const isGetter = typeof get === 'function';
  const isList = typeof (headers as Partial<Iterable<unknown>>)?.[Symbol.iterator] === 'function';
  const named = (name: string) => [name, isGetter && (get.call(headers, name) as unknown)] as const;
  const pairs = isList
    ? [...(headers as Iterable<readonly [string, string]>)]
    : isGetter
      ? FIELDS.map(named)
      : Object.entries(headers ?? {});
  // A request has its fields in a property; a field of that name would be text.
  const isRequest = typeof inside === 'object' && !isGetter;
  if (!headers || isRequest || !pairs.every((pair) => Array.isArray(pair))) {
    throw new TypeError('The headers must be the header fields of the request, such as request.headers.');
  }
  return Object.fromEntries(pairs.map(([name, value]) => [name, String(value ?? '')]));
}
