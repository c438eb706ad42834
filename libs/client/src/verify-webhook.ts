import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import type { WebhookEvent } from './generated/types.ts';

/**
 * The header fields of a request: Node's `request.headers`, the `Headers` object of Fetch, a list of names and values,
 * or a plain object.
 */
export type WebhookHeaders =
  | Iterable<readonly [string, string]>
  | { get(name: string): unknown }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

const FIELDS = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
const SECRET = /^(?:whsec_)?[A-Za-z0-9+/]{32,86}={0,2}$/;

/**
 * Checks that the service has sent this request for this webhook, by the request's signature and time (Standard
 * Webhooks 1.0).
 * @param body the body as it was received, before any parsing
 * @param secret the secret of the webhook, which begins with `whsec_`
 * @throws WebhookVerificationError if the request is not a delivery of the service, or is too old
 * @throws TypeError if an argument is unusable
 */
export function verifyWebhook(
  headers: WebhookHeaders,
  body: string | Uint8Array | ArrayBuffer,
  secret: string,
): WebhookEvent {
  const key: unknown = typeof secret === 'string' ? secret.trim() : secret;
  if (typeof key !== 'string' || !SECRET.test(key)) {
    const problem = key === undefined || key === '' ? 'is missing' : 'has the wrong form';
    throw new TypeError(`The secret ${problem}. Pass the whsec_… secret that createWebhook returned.`);
  }
  const text = textOf(body);
  const fields = fieldsOf(headers);
  if (text === '') {
    throw new WebhookVerificationError(
      'The body is empty. If the request had a body, your program has already read the body before this call.',
    );
  }
  return new Webhook(key).verify(text, fields) as WebhookEvent;
}

function textOf(body: string | Uint8Array | ArrayBuffer): string {
  if (typeof body === 'string') return body;
  try {
    // Keep a byte order mark, because the signature covers every byte.
    if (body !== undefined) return new TextDecoder('utf-8', { ignoreBOM: true }).decode(body);
  } catch {
    // The body is neither text nor bytes, so throw the error below.
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
  // The caller may have passed the whole request instead of its header fields. Refuse an object that itself has an object
  // `headers`, because the fields are one level deeper than this function looks. A request of Express is accepted, because
  // its method `get` returns header fields.
  const isRequest = typeof inside === 'object' && !isGetter;
  if (!headers || isRequest || !pairs.every((pair) => Array.isArray(pair))) {
    throw new TypeError('The headers must be the header fields of the request, such as request.headers.');
  }
  return Object.fromEntries(pairs.map(([name, value]) => [name, String(value ?? '')]));
}
