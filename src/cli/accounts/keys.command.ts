import { Command, Option, SubCommand } from 'nest-commander';
import {
  CommandGroup,
  ConfirmedCommand,
  type ConfirmedOptions,
  ListingCommand,
  ReportingCommand,
} from '../command/command';
import { confirm } from '../command/confirm';
import { IssueKeyCommand } from './issue-key.command';
import { BanKeyCommand, RotateKeyCommand, UnbanKeyCommand } from './key-bans.command';
import { withAccounts } from './account-services';
import { type OutputOptions, printMany, printOne } from '../output/output';
import { keyReference } from '../command/parse';

@SubCommand({ name: 'list', description: 'list keys; shows only their last four characters' })
export class ListKeysCommand extends ListingCommand {
  protected override readonly examples = [
    'keys list',
    'keys list --client acme --sort -lastUsedAt',
    'keys list --output csv --columns id,client,state',
  ];

  @Option({ flags: '--client <name>', description: 'only keys of this client' })
  parseClient(text: string): string {
    return text;
  }

  async run(_arguments: string[], options: OutputOptions & { client?: string }): Promise<void> {
    const rows = await withAccounts(async ({ keys, bans, describeKey }) => {
      const [list, running] = await Promise.all([keys.list(options.client), bans.running()]);
      return list.map((key) => ({
        ...describeKey(key),
        bannedUntil: running.get(key.id)?.toISOString() ?? null,
      }));
    });
    await printMany(rows, options, 'There are no keys yet.');
  }
}

@SubCommand({
  name: 'show',
  arguments: '<key>',
  argsDescription: { key: 'id of the key, or the whole key: psk_live_…' },
  description: 'show a key and its client, for instance of a leaked key',
})
export class ShowKeyCommand extends ReportingCommand {
  protected override readonly examples = ['keys show 2', 'keys show psk_live_…'];

  async run([text = '']: string[], options: OutputOptions): Promise<void> {
    const reference = keyReference('<key>', text);
    const row = await withAccounts(async ({ keys, bans, describeKey }) => {
      const key = await keys.byReference(reference);
      const bannedUntil = (await bans.running()).get(key.id);
      return {
        ...describeKey(key),
        revokedAt: key.revokedAt?.toISOString() ?? null,
        bannedUntil: bannedUntil?.toISOString() ?? null,
      };
    });
    await printOne(row, options);
  }
}

@SubCommand({
  name: 'revoke',
  arguments: '<key>',
  argsDescription: { key: 'id of the key, or the whole key: psk_live_…' },
  description: 'revoke a key for good; applies on every instance within a second',
})
export class RevokeKeyCommand extends ConfirmedCommand {
  protected override readonly examples = [
    'keys revoke 2',
    'keys revoke psk_live_… --yes --reason "found in a public repository"',
  ];

  async run([text = '']: string[], options: ConfirmedOptions): Promise<void> {
    const reference = keyReference('<key>', text);
    const row = await withAccounts(async ({ keys, describeKey }) => {
      const { id, last4, client, revokedAt } = await keys.byReference(reference);
      if (revokedAt === null) {
        await confirm(`Revoke key ${id} (…${last4}) of ${client.name} for good?`, options.yes);
      }
      return describeKey(await keys.revoke(id));
    }, options.reason);
    await printOne(row, options);
  }
}

@Command({
  name: 'keys',
  description: 'manage API keys',
  subCommands: [
    IssueKeyCommand,
    ListKeysCommand,
    ShowKeyCommand,
    RotateKeyCommand,
    RevokeKeyCommand,
    BanKeyCommand,
    UnbanKeyCommand,
  ],
})
export class KeysCommand extends CommandGroup {}

export const KEY_COMMANDS = [
  KeysCommand,
  IssueKeyCommand,
  ListKeysCommand,
  ShowKeyCommand,
  RotateKeyCommand,
  RevokeKeyCommand,
  BanKeyCommand,
  UnbanKeyCommand,
];
