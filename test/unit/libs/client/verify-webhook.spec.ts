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

it.each<[string, WebhookHeaders, string | Uint8Array, string | string[]]>([
  ['a plain object and text', signed(), BODY, SECRET],
  ['Headers of Fetch and bytes', new Headers(signed()), Buffer.from(BODY), SECRET],
  [
    'names in capitals',
    {
      'Webhook-Id': signed()['webhook-id'],
      'WEBHOOK-TIMESTAMP': signed()['webhook-timestamp'],
      'Webhook-Signature': signed()['webhook-signature'],
    },
    BODY,
    SECRET,
  ],
  ['signatures by two secrets', signed(BODY, [OTHER, SECRET]), BODY, SECRET],
  ['several secrets', signed(), BODY, [OTHER, SECRET]],
  [
    'signatures of unknown versions',
    { ...signed(), 'webhook-signature': `v2,AAAA v1a,x ${signed()['webhook-signature']}` },
    BODY,
    SECRET,
  ],
  ['a time of four minutes ago', signed(BODY, [SECRET], ago(240)), BODY, SECRET],
])('Accepts %s', async (_name, headers, body, secret) => {
  expect(await verifyWebhook(headers, body, secret)).toEqual(JSON.parse(BODY));
});

it.each<[string, WebhookHeaders, string, string | string[]]>([
  ['another body', signed(), BODY.replace('Zoë', 'Zoe'), SECRET],
  ['another id', { ...signed(), 'webhook-id': 'evt_2' }, BODY, SECRET],
  [
    'another time',
    { ...signed(), 'webhook-timestamp': String(Math.floor(Date.now() / 1_000) - 60) },
    BODY,
    SECRET,
  ],
  ['another secret', signed(BODY, [OTHER]), BODY, SECRET],
  ['no secrets', signed(), BODY, []],
  ['a time of six minutes ago', signed(BODY, [SECRET], ago(360)), BODY, SECRET],
  ['a time in six minutes', signed(BODY, [SECRET], ago(-360)), BODY, SECRET],
  ['an invalid time', { ...signed(), 'webhook-timestamp': '1e9' }, BODY, SECRET],
  ['no signature', { ...signed(), 'webhook-signature': '' }, BODY, SECRET],
  ['a signature that is not base64', { ...signed(), 'webhook-signature': 'v1,%%%' }, BODY, SECRET],
  [
    'a truncated signature',
    { ...signed(), 'webhook-signature': signed()['webhook-signature']!.slice(0, 20) },
    BODY,
    SECRET,
  ],
  ['a header twice', { ...signed(), 'webhook-id': ['evt_1', 'evt_1'] }, BODY, SECRET],
  ['no headers', {}, BODY, SECRET],
])('Rejects %s, and reveals no secret', async (_name, headers, body, secret) => {
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
