import { Webhook } from 'standardwebhooks';
import { type WebhookHeaders, WebhookVerificationError, verifyWebhook } from '#libs/client';

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const OTHER = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
const BODY =
  '{"id":"evt_1","type":"pet.created","timestamp":"2026-11-21T09:30:00Z","data":{"name":"Zoë 🐕"}}';

/** The time of the receiver. */
const NOW = new Date('2026-11-21T09:30:01Z');
beforeEach(() => void jest.useFakeTimers({ now: NOW }));
afterEach(() => void jest.useRealTimers());

/** The header fields that the service sends, signed by the package of Standard Webhooks. */
function signed(body = BODY, secrets = [SECRET], at = NOW): Record<string, string> {
  return {
    'Webhook-Id': 'evt_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign('evt_1', at, body)).join(' '),
  };
}

const SIX_MINUTES_AGO = new Date(NOW.getTime() - 360_000);

it.each<[string, WebhookHeaders, (string | Uint8Array | ArrayBuffer)?]>([
  ['a plain object and text', signed()],
  ['Headers of Fetch and bytes', new Headers(signed()), Buffer.from(BODY)],
  ['bytes that are no Buffer', signed(), new TextEncoder().encode(BODY)],
  ['signatures by two secrets', signed(BODY, [OTHER, SECRET])],
  ['pairs and an ArrayBuffer', Object.entries(signed()), new Uint8Array(Buffer.from(BODY)).buffer],
  ['anything with get', { get: (name: string) => new Headers(signed()).get(name) }],
  ['a Map', new Map(Object.entries(signed()))],
])('Takes %s', (_name, headers, body = BODY) => {
  expect(verifyWebhook(headers, body, SECRET)).toEqual(JSON.parse(BODY));
});

it.each<[string, WebhookHeaders, (string | Uint8Array)?]>([
  ['another body', signed(), BODY.replace('Zoë', 'Zoe')],
  ['a byte order mark', signed(), Buffer.from(`\ufeff${BODY}`)],
  ['another secret', signed(BODY, [OTHER])],
  ['an old delivery', signed(BODY, [SECRET], SIX_MINUTES_AGO)],
  ['no base64', { ...signed(), 'webhook-signature': 'v1,%%%' }],
  ['a header twice', { ...signed(), 'webhook-signature': ['v1,a', 'v1,b'] }],
  ['an undefined header', { ...signed(), 'webhook-timestamp': undefined }],
  ['no headers', {}],
  ['an empty body, which anybody can send', signed(), ''],
])('Rejects %s, and reveals no secret', (_name, headers, body = BODY) => {
  const verify = () => verifyWebhook(headers, body, SECRET);
  expect(verify).toThrow(WebhookVerificationError);
  expect(verify).not.toThrow(/whsec_/);
});

it.each([` ${SECRET}\r\n`, SECRET.slice('whsec_'.length)])('Takes the secret %j', (secret) => {
  expect(verifyWebhook(signed(), BODY, secret)).toEqual(JSON.parse(BODY));
});

it.each<[RegExp, unknown, unknown, unknown]>([
  [/^The secret is missing\. .*whsec_/, signed(), BODY, undefined],
  [/^The secret is missing/, signed(), BODY, ' '],
  [/^The secret has the wrong form/, signed(), BODY, `"${SECRET}"`],
  [/^The secret has the wrong form/, signed(), BODY, `v1,${SECRET}`],
  [/^The secret has the wrong form/, signed(), BODY, 'psk_live_0123456789abcdefghijklmnopqrstuvwxyz'],
  [/unparsed body/, signed(), undefined, SECRET],
  [/unparsed body/, signed(), null, SECRET],
  [/unparsed body/, signed(), JSON.parse(BODY), SECRET],
  [/header fields of the request/, undefined, BODY, SECRET],
  [/header fields of the request/, Object.entries(signed()).flat(), BODY, SECRET],
  [/header fields of the request/, { headers: signed() }, BODY, SECRET],
  [/header fields of the request/, new Request('http://x.test', { headers: signed() }), BODY, SECRET],
])('A mistake of set-up is a TypeError, and no forgery: %s', (message, headers, body, secret) => {
  const verify = () => verifyWebhook(headers as WebhookHeaders, body as string, secret as string);
  expect(verify).toThrow(TypeError);
  expect(verify).toThrow(message);
});
