import { Webhook } from 'standardwebhooks';
import { type WebhookHeaders, WebhookVerificationError, verifyWebhook } from '#libs/client';

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const OTHER = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
const BODY =
  '{"id":"evt_1","type":"pet.created","timestamp":"2026-11-21T09:30:00Z","data":{"name":"Zoë 🐕"}}';

/** What the service sends; signed by the package of Standard Webhooks. */
function signed(body = BODY, secrets = [SECRET], at = new Date()): Record<string, string> {
  return {
    'Webhook-Id': 'evt_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign('evt_1', at, body)).join(' '),
  };
}

const SIX_MINUTES_AGO = new Date(Date.now() - 360_000);

it.each<[string, WebhookHeaders, (string | Uint8Array)?]>([
  ['a plain object and text', signed()],
  ['Headers of Fetch and bytes', new Headers(signed()), Buffer.from(BODY)],
  ['bytes that are no Buffer', signed(), new TextEncoder().encode(BODY)],
  ['signatures by two secrets', signed(BODY, [OTHER, SECRET])],
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
])('Rejects %s, and reveals no secret', (_name, headers, body = BODY) => {
  const verify = () => verifyWebhook(headers, body, SECRET);
  expect(verify).toThrow(WebhookVerificationError);
  expect(verify).not.toThrow(/whsec_/);
});
