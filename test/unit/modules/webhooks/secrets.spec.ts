import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  SecretVault,
  validSecrets,
  webhookKeyOf,
  withNewSecret,
} from '../../../../src/modules/webhooks/webhook-secrets';
import { readSettings } from '../../../../src/all-settings';
import { useFolder } from '../../../support/files';

const DAY = 86_400_000;
const NOW = new Date(Date.UTC(2026, 10, 21, 9, 30));
const later = (milliseconds: number) => new Date(NOW.getTime() + milliseconds);

function vaultWith(key: Buffer): SecretVault {
  return Object.assign(new SecretVault(), { key });
}
const vault = vaultWith(Buffer.alloc(32, 1));

test.each([
  ['for another webhook', vault, 8, (text: string) => text],
  ['with another key', vaultWith(Buffer.alloc(32, 2)), 7, (text: string) => text],
  ['with a changed byte', vault, 7, (text: string) => text.replace(/.{9}$/, 'AAAAAAAAA')],
  ['when truncated', vault, 7, (text: string) => text.slice(0, 30)],
])('A secret is not decrypted %s, and nothing is revealed', (_name, other, webhookId, change) => {
  const sealed = vault.encryptNew(7);
  const secret = vault.decrypt(sealed, 7);
  const open = () => other.decrypt(change(sealed), webhookId);
  expect(open).toThrow();
  expect(open).not.toThrow(secret.slice(6));
});

it('A second rotation does not shorten the period of the first', () => {
  const two = withNewSecret([{ sealed: 'a', until: null }], 'b', NOW);
  const three = withNewSecret(two, 'c', later(DAY / 2));
  expect(validSecrets(three, later(DAY - 1)).map(({ sealed }) => sealed)).toEqual(['c', 'b', 'a']);
  expect(validSecrets(three, later(DAY)).map(({ sealed }) => sealed)).toEqual(['c', 'b']);
});

const folder = useFolder();

it.each(['', 'c2hvcnQ=', '\u001b[2J../../x', `${'A'.repeat(43)}=x`])(
  'a key file with %j is refused with its name',
  (text) => {
    writeFileSync(join(folder, 'webhook.key'), text);
    const settings = readSettings({ DATA_DIR: folder });
    expect(() => webhookKeyOf(settings)).toThrow(`${folder}/webhook.key does not hold a key of 32 bytes`);
  },
);

it('a key file that cannot be read or created is named with the reason', () => {
  const own = mkdtempSync(join(folder, 'own-'));
  const start = () => webhookKeyOf(readSettings({ DATA_DIR: own }));
  const message = `${own}/webhook.key cannot be read or created: EISDIR`;
  mkdirSync(join(own, 'webhook.key.tmp'));
  expect(start).toThrow(message);
  mkdirSync(join(own, 'webhook.key'));
  expect(start).toThrow(message);
});
