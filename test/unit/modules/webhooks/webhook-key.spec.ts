import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withWebhookKey } from '../../../../src/modules/webhooks/webhook-key';
import { readSettings } from '../../../../src/settings';

it.each(['', 'c2hvcnQ=', '\u001b[2J../../x', `${'A'.repeat(43)}=x`])(
  'a key file with %j is refused with its name',
  (text) => {
    const folder = mkdtempSync(join(tmpdir(), 'petstore-key-'));
    writeFileSync(join(folder, 'webhook.key'), text);
    const settings = readSettings({ DATA_DIR: folder });
    expect(() => withWebhookKey(settings)).toThrow(`${folder}/webhook.key does not hold a key of 32 bytes`);
    rmSync(folder, { recursive: true });
  },
);
