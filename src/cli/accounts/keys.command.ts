import { Inject } from '@nestjs/common';
import { Command, SubCommand } from 'nest-commander';
import { DAY_MS } from '#libs/clock';
import { type KeyDescription, KeysService, SCOPES, type Scope, describeKey } from '../../modules/auth';
import { QuotasService } from '../../modules/quotas';
import { WebhookAdministration } from '../../modules/webhooks';
import { ChangingCommand, CommandGroup, ListingCommand, ResultCommand } from '../command/command';
import { CommandFailure } from '../command/failure';
import { confirm } from '../command/operator';
import {
  Flag,
  Formerly,
  Value,
  anyText,
  duration,
  futureInstant,
  keyReference,
  positionOr,
  shortText,
  someOf,
} from '../command/option';
import { printKey, printMany, printOne } from '../output/output';

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

@SubCommand({
  name: 'issue',
  arguments: '[client]',
  argsDescription: { client: 'client that the key is for' },
  description: 'issue a key; it is shown only once',
})
export class IssueKeyCommand extends ChangingCommand {
  protected override readonly examples = [
    'keys issue acme',
    'keys issue acme --name "price list" --scopes read --expires 2027-01-31',
    'keys issue acme --json',
  ];
  @Inject() private readonly keys!: KeysService;

  @Formerly('--client <name>', anyText) client?: string;
  @Value('--name <name>', 'what the key is for; the client sees it', shortText(100)) name?: string;
  @Value('--scopes <scopes>', 'read, write or both (default: read,write)', someOf(SCOPES)) scopes?: Scope[];
  @Value(
    '--expires <when>',
    'a day (valid until its end, UTC) or a time such as 2027-01-31T12:00:00Z',
    futureInstant,
  )
  expires?: Date;

  async run([text]: string[]): Promise<void> {
    const { name, scopes, expires: expiresAt } = this;
    const client = positionOr('client', text, anyText, this.client);
    await this.store.open(this.reason);
    const { key, record } = await this.keys.issue({ client, name, scopes, expiresAt });
    await printKey(describeNew(record, key), this);
  }
}

@SubCommand({ name: 'list', description: 'list keys; shows only their last four characters' })
export class ListKeysCommand extends ListingCommand {
  protected override readonly examples = [
    'keys list',
    'keys list --client acme --sort -lastUsedAt',
    'keys list --output csv --columns id,client,state',
  ];
  @Inject() private readonly keys!: KeysService;
  @Inject() private readonly quotas!: QuotasService;

  @Value('--client <name>', 'only keys of this client', anyText) client?: string;

  async run(): Promise<void> {
    await this.store.open();
    const [keys, running] = await Promise.all([this.keys.list(this.client), this.quotas.activeBans()]);
    const rows = keys.map((key) => ({
      ...describe(key),
      bannedUntil: running.get(key.id)?.toISOString() ?? null,
    }));
    await printMany(rows, this, 'There are no keys yet.');
  }
}

@SubCommand({
  name: 'show',
  arguments: '<key>',
  argsDescription: KEY,
  description: 'show a key and its client, for instance of a leaked key',
})
export class ShowKeyCommand extends ResultCommand {
  protected override readonly examples = ['keys show 2', 'keys show psk_live_…'];
  @Inject() private readonly keys!: KeysService;
  @Inject() private readonly quotas!: QuotasService;

  async run([text = '']: string[]): Promise<void> {
    const reference = keyReference(text);
    await this.store.open();
    const key = await this.keys.byReference(reference);
    const bannedUntil = (await this.quotas.activeBans()).get(key.id);
    const row = {
      ...describe(key),
      revokedAt: key.revokedAt?.toISOString() ?? null,
      bannedUntil: bannedUntil?.toISOString() ?? null,
    };
    await printOne(row, this);
  }
}

/** A command that changes a key. */
abstract class KeyChangeCommand extends ChangingCommand {
  @Inject() protected readonly keys!: KeysService;
  @Inject() protected readonly quotas!: QuotasService;

  protected async find(text: string): Promise<Key> {
    const reference = keyReference(text);
    await this.store.open(this.reason);
    return this.keys.byReference(reference);
  }
}

@SubCommand({
  name: 'rotate',
  arguments: '<key>',
  argsDescription: KEY,
  description:
    'replace a key with a new one; the old key stays valid for a while, and an active ban is inherited',
})
export class RotateKeyCommand extends KeyChangeCommand {
  protected override readonly examples = ['keys rotate 1', 'keys rotate 1 --overlap 30m'];

  @Value(
    '--overlap <time>',
    'how long the old key stays valid: 0 to 7d (default: 24h)',
    duration(0, 7 * DAY_MS),
  )
  overlap = DAY_MS;

  async run([text = '']: string[]): Promise<void> {
    const { id: oldId } = await this.find(text);
    const { key, record } = await this.keys.rotate(oldId, this.overlap, (transaction, newId) =>
      this.quotas.inheritBan(transaction, oldId, newId),
    );
    await printKey({ ...describeNew(record, key), replaces: oldId }, this);
  }
}

@SubCommand({
  name: 'revoke',
  arguments: '<key>',
  argsDescription: KEY,
  description: 'revoke a key for good; applies on every instance within a second',
})
export class RevokeKeyCommand extends KeyChangeCommand {
  protected override readonly examples = [
    'keys revoke 2',
    'keys revoke psk_live_… --yes --reason "found in a public repository"',
  ];
  @Inject() private readonly webhooks!: WebhookAdministration;

  @Flag('-y, --yes', 'do not ask') yes?: boolean;

  async run([text = '']: string[]): Promise<void> {
    const { id, last4, client, revokedAt } = await this.find(text);
    if (revokedAt === null) {
      await confirm(`Revoke key ${id} (…${last4}) of ${client.name} for good?`, this.yes);
    }
    await printOne({ ...describe(await this.keys.revoke(id)) }, this);
    await this.nameWebhooks(client.name);
  }

  /** Whoever had the key may have created webhooks, and they go on. */
  private async nameWebhooks(client: string): Promise<void> {
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
export class BanKeyCommand extends KeyChangeCommand {
  protected override readonly examples = [
    'keys ban 1',
    'keys ban 1 --for 2h --reason "scrapes the catalogue"',
  ];

  @Value(
    '--for <time>',
    'duration such as 10m, 2h or 3d; if omitted, the next level of the automatic bans',
    duration(1_000, 365 * DAY_MS),
  )
  for?: number;

  async run([text = '']: string[]): Promise<void> {
    const { id, revokedAt } = await this.find(text);
    if (revokedAt !== null) {
      throw new CommandFailure(`Key ${id} is already revoked and cannot be used, so it needs no ban.`, {
        code: 'key_revoked',
      });
    }
    const bannedUntil = await this.quotas.ban(id, this.for);
    await printOne({ id, bannedUntil: bannedUntil.toISOString() }, this);
  }
}

@SubCommand({ name: 'unban', arguments: '<key>', argsDescription: KEY, description: 'lift the ban of a key' })
export class UnbanKeyCommand extends KeyChangeCommand {
  protected override readonly examples = ['keys unban 1'];

  async run([text = '']: string[]): Promise<void> {
    const { id } = await this.find(text);
    await this.quotas.unban(id);
    await printOne({ id, bannedUntil: null }, this);
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
