import { Command, Help, Option, SubCommand } from 'nest-commander';
import type { Scope } from '../modules/auth';
import { CommandGroup, ReportingCommand, UsageError, administer, examples } from './command';
import { BanKeyCommand, RotateKeyCommand, UnbanKeyCommand } from './key-bans.command';
import { printKey, printMany, printOne } from './output';
import { futureInstant, keyId } from './parse';

interface IssueOptions {
  client: string;
  scopes: Scope[];
  expires?: Date;
  json?: boolean;
}

@SubCommand({ name: 'issue', description: 'issue a key; it is shown only once' })
export class IssueKeyCommand extends ReportingCommand {
  @Option({ flags: '--client <name>', description: 'client that the key is for', required: true })
  parseClient(text: string): string {
    return text;
  }

  @Option({ flags: '--scopes <scopes>', description: 'read, write or both', defaultValue: 'read,write' })
  parseScopes(text: string): Scope[] {
    const scopes = [...new Set(text.split(','))];
    if (!scopes.every((scope) => scope === 'read' || scope === 'write')) {
      throw new UsageError(`--scopes takes read, write or read,write, not "${text}".`);
    }
    return scopes;
  }

  @Option({
    flags: '--expires <when>',
    description: 'a day (valid until its end, UTC) or a time such as 2027-01-31T12:00:00Z',
  })
  parseExpires(text: string): Date {
    return futureInstant('--expires', text, Date.now());
  }

  @Help('after')
  examples(): string {
    return examples(
      'keys issue --client acme',
      'keys issue --client acme --scopes read --expires 2027-01-31',
      'keys issue --client acme --json',
    );
  }

  async run(_arguments: string[], { client, scopes, expires, json }: IssueOptions): Promise<void> {
    const chosen = typeof scopes === 'string' ? this.parseScopes(scopes) : scopes;
    const request = { client, scopes: chosen, expiresAt: expires ?? null };
    const { KeysService, describeKey } = await import('../modules/auth/index.js');
    const { key, record } = await administer((services) => services.get(KeysService).issue(request));
    const { id, ...rest } = describeKey(record, Date.now());
    printKey({ id, key, ...rest }, json);
  }
}

@SubCommand({ name: 'list', description: 'list keys; shows only their last four characters' })
export class ListKeysCommand extends ReportingCommand {
  @Option({ flags: '--client <name>', description: 'only keys of this client' })
  parseClient(text: string): string {
    return text;
  }

  async run(_arguments: string[], { client, json }: { client?: string; json?: boolean }): Promise<void> {
    const { KeysService, describeKey } = await import('../modules/auth/index.js');
    const { BanRegister } = await import('../modules/quotas/index.js');
    const [list, bans] = await administer((services) =>
      Promise.all([services.get(KeysService).list(client), services.get(BanRegister).running()]),
    );
    const rows = list.map((key) => ({
      ...describeKey(key, Date.now()),
      bannedUntil: bans.get(key.id)?.toISOString() ?? null,
    }));
    printMany(rows, json, 'There are no keys yet.');
  }
}

@SubCommand({
  name: 'revoke',
  arguments: '<id>',
  description: 'revoke a key for good; applies on every instance within a second',
})
export class RevokeKeyCommand extends ReportingCommand {
  async run([text = '']: string[], { json }: { json?: boolean }): Promise<void> {
    const id = keyId(text);
    const { KeysService, describeKey } = await import('../modules/auth/index.js');
    const record = await administer((services) => services.get(KeysService).revoke(id));
    printOne({ ...describeKey(record, Date.now()) }, json);
  }
}

@Command({
  name: 'keys',
  description: 'manage API keys',
  subCommands: [
    IssueKeyCommand,
    ListKeysCommand,
    RevokeKeyCommand,
    RotateKeyCommand,
    BanKeyCommand,
    UnbanKeyCommand,
  ],
})
export class KeysCommand extends CommandGroup {}

export const KEY_COMMANDS = [
  KeysCommand,
  IssueKeyCommand,
  ListKeysCommand,
  RevokeKeyCommand,
  RotateKeyCommand,
  BanKeyCommand,
  UnbanKeyCommand,
];
