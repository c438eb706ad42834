import { crc32 } from 'node:zlib';
import { digestOf, newApiKey } from '../../../src/modules/auth/api-key';
import { MINUTE_MS } from '../../../src/modules/quotas/rules/limits';
import { RecordedStatements, type SentStatement } from '../database/support/recorded-statements';
import { useService } from '../../support/use-service';

const service = useService();
const recorded = new RecordedStatements();
afterAll(() => recorded.stop());

/** The look-ups of keys while this key calls. */
async function lookUpsOf(key: string): Promise<SentStatement[]> {
  service.clock.advance(MINUTE_MS);
  const sent = await recorded.during(() => service.anonymous().with({ 'X-API-Key': key }).get('/categories'));
  return sent.filter(({ text }) => text.includes('api_keys'));
}

// Time tells nothing of a secret that nothing is compared with. These tests show that there is no such comparison; a
// measurement of the times would be a matter of luck.
describe('keys are never compared with a secret', () => {
  it('a valid key, an unknown one and one with another last random character are all looked up by SHA-256', async () => {
    const { key } = await service.issueKey();
    const neighbour = neighbourOf(key);
    const statements = [];
    for (const tried of [key, newApiKey(), neighbour]) {
      const [lookUp, ...others] = await lookUpsOf(tried);
      expect(others).toEqual([]);
      expect(lookUp!.values.flat()).toEqual([digestOf(tried)]);
      statements.push([lookUp!.name, lookUp!.text]);
    }
    expect(new Set(statements.map(String)).size).toBe(1);
  });

  it('a wrong checksum is detected without a lookup', async () => {
    const { key } = await service.issueKey();
    for (const mistyped of [
      `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`,
      `psk_live_${'0'.repeat(36)}`,
    ]) {
      expect(await lookUpsOf(mistyped)).toEqual([]);
    }
  });
});

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A well-formed key that differs from this one in the last of its random characters, and so in its checksum. */
function neighbourOf(key: string): string {
  const random = key.slice('psk_live_'.length, -6);
  const last = DIGITS[(DIGITS.indexOf(random.at(-1)!) + 1) % DIGITS.length]!;
  const changed = random.slice(0, -1) + last;
  let rest = crc32(changed);
  let checksum = '';
  while (checksum.length < 6) {
    checksum = DIGITS[rest % 62]! + checksum;
    rest = Math.floor(rest / 62);
  }
  return `psk_live_${changed}${checksum}`;
}
