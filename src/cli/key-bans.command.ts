import { Help, Option, SubCommand } from 'nest-commander';
import type { KeysService } from '../modules/auth';
import type { BanRegister } from '../modules/quotas';
import { ReportingCommand, administer, examples } from './command';
import { CommandFailure } from './command-failure';
import { printKey, printOne } from './output';
import { duration, keyId } from './parse';

const DAY_MS = 86_400_000;
const OVERLAP = { min: 0, max: 7 * DAY_MS };
const BAN = { min: 1_000, max: 365 * DAY_MS };

interface Services {
  keys: KeysService;
  bans: BanRegister;
}

async function withKeysAndBans<Result>(work: (services: Services) => Promise<Result>): Promise<Result> {
  const [{ KeysService }, { BanRegister }] = await Promise.all([
    import('../modules/auth/index.js'),
    import('../modules/quotas/index.js'),
  ]);
  return administer((all) => work({ keys: all.get(KeysService), bans: all.get(BanRegister) }));
}

@SubCommand({
  name: 'rotate',
  arguments: '<id>',
  description:
    'replace a key with a new one; the old key stays valid for a while, and an active ban is inherited',
})
export class RotateKeyCommand extends ReportingCommand {
  @Option({
    flags: '--overlap <time>',
    description: 'how long the old key stays valid: 0 to 7d',
    defaultValue: '24h',
  })
  parseOverlap(text: string): string {
    return text;
  }

  @Help('after')
  examples(): string {
    return examples('keys rotate 1', 'keys rotate 1 --overlap 30m');
  }

  async run([text = '']: string[], { overlap, json }: { overlap: string; json?: boolean }): Promise<void> {
    const id = keyId(text);
    const overlapMs = duration('--overlap', overlap, OVERLAP);
    const { key, record } = await withKeysAndBans(({ keys, bans }) =>
      keys.rotate(id, overlapMs, (transaction, newId) => bans.inherit(transaction, id, newId)),
    );
    const { describeKey } = await import('../modules/auth/index.js');
    const { id: newId, ...rest } = describeKey(record, Date.now());
    printKey({ id: newId, key, ...rest, replaces: id }, json);
  }
}

@SubCommand({
  name: 'ban',
  arguments: '<id>',
  description: 'ban a key; applies on every instance within a second',
})
export class BanKeyCommand extends ReportingCommand {
  @Option({
    flags: '--for <time>',
    description: 'duration such as 10m, 2h or 3d; if omitted, the next level of the automatic bans',
  })
  parseFor(text: string): string {
    return text;
  }

  @Help('after')
  examples(): string {
    return examples('keys ban 1', 'keys ban 1 --for 2h');
  }

  async run([text = '']: string[], { for: time, json }: { for?: string; json?: boolean }): Promise<void> {
    const id = keyId(text);
    const durationMs = time === undefined ? undefined : duration('--for', time, BAN);
    const bannedUntil = await withKeysAndBans(async ({ keys, bans }) => {
      const { revokedAt } = await keys.byId(id);
      if (revokedAt !== null) {
        throw new CommandFailure(`Key ${id} is already revoked and cannot be used, so it needs no ban.`);
      }
      return bans.ban(id, durationMs);
    });
    printOne({ id, bannedUntil: bannedUntil.toISOString() }, json);
  }
}

@SubCommand({ name: 'unban', arguments: '<id>', description: 'lift the ban of a key' })
export class UnbanKeyCommand extends ReportingCommand {
  async run([text = '']: string[], { json }: { json?: boolean }): Promise<void> {
    const id = keyId(text);
    await withKeysAndBans(async ({ keys, bans }) => {
      await keys.byId(id);
      await bans.unban(id);
    });
    printOne({ id, bannedUntil: null }, json);
  }
}
