import { Webhook } from 'standardwebhooks';
import { type WebhookHeaders, WebhookVerificationError, verifyWebhook } from '../../../../libs/client/src';

const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const OTHER = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
const BODY =
  '{"id":"evt_1","type":"pet.created","timestamp":"2026-11-21T09:30:00Z","data":{"name":"Zoë 🐕"}}';

/** What the service sends; signed by the package of Standard Webhooks. */
function signed(body = BODY, secrets = [SECRET], at = new Date()): Record<string, string> {
  return {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign('evt_1', at, body)).join(' '),
  };
}

const ago = (seconds: number) => new Date(Date.now() - seconds * 1_000);
const all = signed();
const signature = all['webhook-signature']!;
const capitals = Object.fromEntries(Object.entries(all).map(([name, value]) => [name.toUpperCase(), value]));
/** The header fields with another value for one of them. */
const but = (name: string, value: string | string[]): WebhookHeaders => ({
  ...all,
  [`webhook-${name}`]: value,
});

it.each<[string, WebhookHeaders, (string | Uint8Array)?, (string | string[])?]>([
  ['a plain object and text', all],
  ['Headers of Fetch and bytes', new Headers(all), Buffer.from(BODY)],
  ['names in capitals', capitals],
  ['signatures by two secrets', signed(BODY, [OTHER, SECRET])],
  ['several secrets', all, BODY, [OTHER, SECRET]],
  ['signatures of versions that are not known', but('signature', `v2,AAAA v1a,x ${signature}`)],
  ['a time of four minutes ago', signed(BODY, [SECRET], ago(240))],
])('Takes %s', async (_name, headers, body = BODY, secret = SECRET) => {
  expect(await verifyWebhook(headers, body, secret)).toEqual(JSON.parse(BODY));
});

it.each<[string, WebhookHeaders, string?, (string | string[])?]>([
  ['another body', all, BODY.replace('Zoë', 'Zoe')],
  ['another id', but('id', 'evt_2')],
  ['another time', but('timestamp', String(Math.floor(Date.now() / 1_000) - 60))],
  ['another secret', signed(BODY, [OTHER])],
  ['no secrets', all, BODY, []],
  ['a time of six minutes ago', signed(BODY, [SECRET], ago(360))],
  ['a time in six minutes', signed(BODY, [SECRET], ago(-360))],
  ['a time that is none', but('timestamp', '1e9')],
  ['no signature', but('signature', '')],
  ['a signature that is no base64', but('signature', 'v1,%%%')],
  ['a signature cut off', but('signature', signature.slice(0, 20))],
  ['a header twice', but('id', ['evt_1', 'evt_1'])],
  ['no headers', {}],
])('Rejects %s, and reveals no secret', async (_name, headers, body = BODY, secret = SECRET) => {
  const failure = await verifyWebhook(headers, body, secret).catch((error: unknown) => error as Error);
  expect(failure).toBeInstanceOf(WebhookVerificationError);
  expect((failure as Error).message).not.toContain('whsec_');
});

it('Reports an invalid secret, without repeating it', async () => {
  const failure = await verifyWebhook(signed(), BODY, 'whsec_%%hunter2').catch(
    (error: unknown) => error as Error,
  );
  expect(failure).toBeInstanceOf(TypeError);
  expect((failure as Error).message).not.toContain('hunter2');
});
