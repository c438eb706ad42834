import { Command, Option, SubCommand } from 'nest-commander';
import { DAY_MS } from '#libs/clock';
import { type KeyDescription, KeysService, type Scope, describeKey } from '../../modules/auth';
import { BanRegister } from '../../modules/quotas';
import { WebhookAdministration } from '../../modules/webhooks';
import {
  type ChangeOptions,
  ChangingCommand,
  CommandGroup,
  ConfirmedCommand,
  type ConfirmedOptions,
  ListingCommand,
  ReportingCommand,
} from '../command/command';
import { CommandFailure, UsageError } from '../command/command-failure';
import { confirm } from '../command/confirm';
import { duration, futureInstant, keyReference } from '../command/parse';
import { type OutputOptions, printKey, printMany, printOne } from '../output/output';

const OVERLAP = { min: 0, max: 7 * DAY_MS };
const BAN = { min: 1_000, max: 365 * DAY_MS };
const KEY = { key: 'id of the key, or the whole key: psk_live_…' };

type Key = Awaited<ReturnType<KeysService['byId']>>;

function describe(key: Key): KeyDescription {
  return describeKey(key, Date.now());
}

/** A new key stands next to its id. */
function describeNew(record: Key, key: string) {
  const { id, ...rest } = describe(record);
  return { id, key, ...rest };
}

interface IssueOptions extends ChangeOptions {
  client: string;
  scopes?: Scope[];
  expires?: Date;
}

@SubCommand({ name: 'issue', description: 'issue a key; it is shown only once' })
export class IssueKeyCommand extends ChangingCommand {
  protected override readonly examples = [
    'keys issue --client acme',
    'keys issue --client acme --scopes read --expires 2027-01-31',
    'keys issue --client acme --json',
  ];

  constructor(private readonly keys: KeysService) {
    super();
  }

  @Option({ flags: '--client <name>', description: 'client that the key is for', required: true })
  parseClient(text: string): string {
    return text;
  }

  @Option({ flags: '--scopes <scopes>', description: 'read, write or both (default: read,write)' })
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

  async run(_arguments: string[], options: IssueOptions): Promise<void> {
    const { client, scopes, expires: expiresAt, reason, ...output } = options;
    await this.store.open(reason);
    const { key, record } = await this.keys.issue({ client, scopes, expiresAt });
    await printKey(describeNew(record, key), output);
  }
}

@SubCommand({ name: 'list', description: 'list keys; shows only their last four characters' })
export class ListKeysCommand extends ListingCommand {
  protected override readonly examples = [
    'keys list',
    'keys list --client acme --sort -lastUsedAt',
    'keys list --output csv --columns id,client,state',
  ];

  constructor(
    private readonly keys: KeysService,
    private readonly bans: BanRegister,
  ) {
    super();
  }

  @Option({ flags: '--client <name>', description: 'only keys of this client' })
  parseClient(text: string): string {
    return text;
  }

  async run(_arguments: string[], options: OutputOptions & { client?: string }): Promise<void> {
    await this.store.open();
    const [keys, running] = await Promise.all([this.keys.list(options.client), this.bans.running()]);
    const rows = keys.map((key) => ({
      ...describe(key),
      bannedUntil: running.get(key.id)?.toISOString() ?? null,
    }));
    await printMany(rows, options, 'There are no keys yet.');
  }
}

@SubCommand({
  name: 'show',
  arguments: '<key>',
  argsDescription: KEY,
  description: 'show a key and its client, for instance of a leaked key',
})
export class ShowKeyCommand extends ReportingCommand {
  protected override readonly examples = ['keys show 2', 'keys show psk_live_…'];

  constructor(
    private readonly keys: KeysService,
    private readonly bans: BanRegister,
  ) {
    super();
  }

  async run([text = '']: string[], options: OutputOptions): Promise<void> {
    const reference = keyReference('<key>', text);
    await this.store.open();
    const key = await this.keys.byReference(reference);
    const bannedUntil = (await this.bans.running()).get(key.id);
    const row = {
      ...describe(key),
      revokedAt: key.revokedAt?.toISOString() ?? null,
      bannedUntil: bannedUntil?.toISOString() ?? null,
    };
    await printOne(row, options);
  }
}

@SubCommand({
  name: 'rotate',
  arguments: '<key>',
  argsDescription: KEY,
  description:
    'replace a key with a new one; the old key stays valid for a while, and an active ban is inherited',
})
export class RotateKeyCommand extends ChangingCommand {
  protected override readonly examples = ['keys rotate 1', 'keys rotate 1 --overlap 30m'];

  constructor(
    private readonly keys: KeysService,
    private readonly bans: BanRegister,
  ) {
    super();
  }

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
    await this.store.open(options.reason);
    const { id: oldId } = await this.keys.byReference(reference);
    const { key, record } = await this.keys.rotate(oldId, overlapMs, (transaction, newId) =>
      this.bans.inherit(transaction, oldId, newId),
    );
    await printKey({ ...describeNew(record, key), replaces: oldId }, options);
  }
}

@SubCommand({
  name: 'revoke',
  arguments: '<key>',
  argsDescription: KEY,
  description: 'revoke a key for good; applies on every instance within a second',
})
export class RevokeKeyCommand extends ConfirmedCommand {
  protected override readonly examples = [
    'keys revoke 2',
    'keys revoke psk_live_… --yes --reason "found in a public repository"',
  ];

  constructor(
    private readonly keys: KeysService,
    private readonly webhooks: WebhookAdministration,
  ) {
    super();
  }

  async run([text = '']: string[], options: ConfirmedOptions): Promise<void> {
    const reference = keyReference('<key>', text);
    await this.store.open(options.reason);
    const { id, last4, client, revokedAt } = await this.keys.byReference(reference);
    if (revokedAt === null) {
      await confirm(`Revoke key ${id} (…${last4}) of ${client.name} for good?`, options.yes);
    }
    await printOne({ ...describe(await this.keys.revoke(id)) }, options);
    await this.tellOfWebhooks(client.name);
  }

  /** Whoever had the key may have created webhooks, and they go on. */
  private async tellOfWebhooks(client: string): Promise<void> {
    const enabled = (await this.webhooks.list(client)).filter(({ state }) => state === 'enabled');
    if (enabled.length > 0) {
      const named = enabled.map(({ id, url }) => `  ${id}  ${url}\n`).join('');
      process.stderr.write(
        `\nEvents are still sent to these webhooks of ${client}. To end one: webhooks disable <id>\n${named}`,
      );
    }
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

  constructor(
    private readonly keys: KeysService,
    private readonly bans: BanRegister,
  ) {
    super();
  }

  @Option({
    flags: '--for <time>',
    description: 'duration such as 10m, 2h or 3d; if omitted, the next level of the automatic bans',
  })
  parseFor(text: string): number {
    return duration('--for', text, BAN);
  }

  async run([text = '']: string[], options: ChangeOptions & { for?: number }): Promise<void> {
    const reference = keyReference('<key>', text);
    await this.store.open(options.reason);
    const { id, revokedAt } = await this.keys.byReference(reference);
    if (revokedAt !== null) {
      throw new CommandFailure(`Key ${id} is already revoked and cannot be used, so it needs no ban.`, {
        code: 'key_revoked',
      });
    }
    const bannedUntil = await this.bans.ban(id, options.for);
    await printOne({ id, bannedUntil: bannedUntil.toISOString() }, options);
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

  constructor(
    private readonly keys: KeysService,
    private readonly bans: BanRegister,
  ) {
    super();
  }

  async run([text = '']: string[], options: ChangeOptions): Promise<void> {
    const reference = keyReference('<key>', text);
    await this.store.open(options.reason);
    const { id } = await this.keys.byReference(reference);
    await this.bans.unban(id);
    await printOne({ id, bannedUntil: null }, options);
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
