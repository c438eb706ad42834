import { Option, SubCommand } from 'nest-commander';
import { type ChangeOptions, ChangingCommand } from '../command/command';
import { DAY_MS } from '#libs/clock';
import { CommandFailure } from '../command/command-failure';
import { withAccounts } from './account-services';
import { printKey, printOne } from '../output/output';
import { duration, keyReference } from '../command/parse';

const OVERLAP = { min: 0, max: 7 * DAY_MS };
const BAN = { min: 1_000, max: 365 * DAY_MS };
const KEY = { key: 'id of the key, or the whole key: psk_live_…' };

@SubCommand({
  name: 'rotate',
  arguments: '<key>',
  argsDescription: KEY,
  description:
    'replace a key with a new one; the old key stays valid for a while, and an active ban is inherited',
})
export class RotateKeyCommand extends ChangingCommand {
  protected override readonly examples = ['keys rotate 1', 'keys rotate 1 --overlap 30m'];

  @Option({
    flags: '--overlap <time>',
    description: 'how long the old key stays valid: 0 to 7d',
    defaultValue: '24h',
  })
  parseOverlap(text: string): string {
    return text;
  }

  async run([text = '']: string[], options: ChangeOptions & { overlap: string }): Promise<void> {
    const reference = keyReference('<key>', text);
    const overlapMs = duration('--overlap', options.overlap, OVERLAP);
    const row = await withAccounts(async ({ keys, bans, describeKey }) => {
      const { id: oldId } = await keys.byReference(reference);
      const { key, record } = await keys.rotate(oldId, overlapMs, (transaction, newId) =>
        bans.inherit(transaction, oldId, newId),
      );
      const { id, ...rest } = describeKey(record);
      return { id, key, ...rest, replaces: oldId };
    }, options.reason);
    await printKey(row, options);
  }
}

@SubCommand({
  name: 'ban',
  arguments: '<key>',
  argsDescription: KEY,
  description: 'ban a key; applies on every instance within a second',
})
export class BanKeyCommand extends ChangingCommand {
  protected override readonly examples = [
    'keys ban 1',
    'keys ban 1 --for 2h --reason "scrapes the catalogue"',
  ];

  @Option({
    flags: '--for <time>',
    description: 'duration such as 10m, 2h or 3d; if omitted, the next level of the automatic bans',
  })
  parseFor(text: string): number {
    return duration('--for', text, BAN);
  }

  async run([text = '']: string[], options: ChangeOptions & { for?: number }): Promise<void> {
    const reference = keyReference('<key>', text);
    const row = await withAccounts(async ({ keys, bans }) => {
      const { id, revokedAt } = await keys.byReference(reference);
      if (revokedAt !== null) {
        throw new CommandFailure(`Key ${id} is already revoked and cannot be used, so it needs no ban.`, {
          code: 'key_revoked',
        });
      }
      return { id, bannedUntil: (await bans.ban(id, options.for)).toISOString() };
    }, options.reason);
    await printOne(row, options);
  }
}

@SubCommand({
  name: 'unban',
  arguments: '<key>',
  argsDescription: KEY,
  description: 'lift the ban of a key',
})
export class UnbanKeyCommand extends ChangingCommand {
  protected override readonly examples = ['keys unban 1'];

  async run([text = '']: string[], options: ChangeOptions): Promise<void> {
    const reference = keyReference('<key>', text);
    const row = await withAccounts(async ({ keys, bans }) => {
      const { id } = await keys.byReference(reference);
      await bans.unban(id);
      return { id, bannedUntil: null };
    }, options.reason);
    await printOne(row, options);
  }
}
