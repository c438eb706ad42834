import { Inject } from '@nestjs/common';
import { Command, SubCommand } from 'nest-commander';
import { DAY_MS } from '#libs/clock';
import { SCOPES, type Scope } from './api-key';
import { KeysService, banEndOf, describeKey } from './keys.service';
import { QuotasService } from '../quotas';
import { ClientsService } from './clients.service';
import { failureOf } from '../../runtime/failures';
import { formatError } from '../../runtime/messages';
import {
  CommandGroup,
  type Commander,
  type ConfirmedOptions,
  ResultCommand,
} from '../../cli/command/command';
import { CommandFailure, UsageError } from '../../cli/command/failure';
import { confirm } from '../../cli/command/operator';
import { duration, futureInstant, keyReference, shortText, someOf } from '../../cli/command/option';
import { type OutputOptions, printKey, printMany, printOne } from '../../cli/command/output';

const KEY = { arguments: '<key>', argsDescription: { key: 'id of the key, or the whole key: psk_live_…' } };

abstract class KeyCommand extends ResultCommand {
  @Inject() protected readonly keys!: KeysService;
  @Inject() protected readonly quotas!: QuotasService;

  /** The key of an id, or the whole key. */
  protected async named(text: string): Promise<Key> {
    const reference = keyReference(text);
    await this.store.open();
    return this.keys.byReference(reference);
  }
}

type Key = Awaited<ReturnType<KeysService['byId']>>;

function describe(key: Parameters<typeof describeKey>[0]) {
  return describeKey(key, Date.now());
}

function bannedUntil(key: Key): string | null {
  return banEndOf(key, Date.now())?.toISOString() ?? null;
}

/** For questions. */
function nameOf({ id, last4, client }: Key): string {
  return `key ${id} (…${last4}) of ${client.name}`;
}

/** A new key stands next to its id. */
function describeNew(record: Key, key: string) {
  const { id, ...rest } = describe(record);
  return { id, key, ...rest };
}

interface TermsOptions extends OutputOptions {
  name?: string;
  scopes?: Scope[];
  expires?: Date;
}

type UpdateOptions = Omit<TermsOptions, 'expires'> & { expires?: Date | false };

/** Options of what an operator decides for a key. */
function acceptTerms(commander: Commander, scopes: string): void {
  commander
    .option('--name <name>', 'what the key is for; the client sees it', shortText(100))
    .option('--scopes <scopes>', scopes, someOf(SCOPES))
    .option(
      '--expires <when>',
      'a day (valid until its end, UTC) or a time such as 2027-01-31T12:00:00Z',
      futureInstant,
    );
}

@SubCommand({ name: 'issue', description: 'issue a key; it is shown only once' })
export class IssueKeyCommand extends KeyCommand {
  protected override readonly examples = [
    'keys issue --client acme --json',
    'keys issue --client acme --name "price list" --scopes read --expires 2027-01-31',
  ];

  override accept(commander: Commander): void {
    commander.requiredOption('--client <name>', 'client that the key is for');
    acceptTerms(commander, 'read, write or both (default: read,write)');
  }

  async work(_inputs: string[], options: TermsOptions & { client: string }): Promise<void> {
    const { client, name, scopes, expires: expiresAt } = options;
    await this.store.open();
    const { key, record } = await this.keys.issue({ client, name, scopes, expiresAt });
    printKey(describeNew(record, key), options);
  }
}

@SubCommand({ name: 'list', description: 'list keys; shows only their last four characters' })
export class ListKeysCommand extends KeyCommand {
  protected override readonly examples = ['keys list', 'keys list --client acme --output csv'];

  override accept(commander: Commander): void {
    commander.option('--client <name>', 'only keys of this client');
  }

  async work(_inputs: string[], options: OutputOptions & { client?: string }): Promise<void> {
    await this.store.open();
    const keys = await this.keys.list(options.client);
    const rows = keys.map((key) => ({ ...describe(key), bannedUntil: bannedUntil(key) }));
    printMany(rows, options, 'There are no keys yet.');
  }
}

@SubCommand({ name: 'show', ...KEY, description: 'show a key and its client, for instance of a leaked key' })
export class ShowKeyCommand extends KeyCommand {
  protected override readonly examples = ['keys show 2', 'keys show psk_live_…'];

  async work([text = '']: string[], options: OutputOptions): Promise<void> {
    const key = await this.named(text);
    const revokedAt = key.revokedAt?.toISOString() ?? null;
    printOne({ ...describe(key), revokedAt, bannedUntil: bannedUntil(key) }, options);
  }
}

@SubCommand({
  name: 'update',
  ...KEY,
  description: 'change the name, scopes or expiry of a key; applies on every instance within a second',
})
export class UpdateKeyCommand extends KeyCommand {
  protected override readonly examples = [
    'keys update 2 --name "price list" --scopes read',
    'keys update 2 --expires 2027-01-31',
    'keys update 2 --no-expires',
  ];

  override accept(commander: Commander): void {
    acceptTerms(commander, 'read, write or both');
    commander.option('--no-expires', 'valid until it is revoked');
  }

  async work([text = '']: string[], options: UpdateOptions): Promise<void> {
    const { name, scopes, expires } = options;
    const expiresAt = expires === false ? null : expires;
    if (name === undefined && scopes === undefined && expiresAt === undefined) {
      throw new UsageError('name what to change: --name, --scopes or --expires.');
    }
    const { id } = await this.named(text);
    printOne(describe(await this.keys.update(id, { name, scopes, expiresAt })), options);
  }
}

@SubCommand({
  name: 'rotate',
  ...KEY,
  description:
    'replace a key with a new one; the old key stays valid for a while, and an active ban is inherited',
})
export class RotateKeyCommand extends KeyCommand {
  protected override readonly examples = ['keys rotate 1', 'keys rotate 1 --overlap 30m'];

  override accept(commander: Commander): void {
    const overlap = 'how long the old key stays valid: 0 to 7d (default: 24h)';
    commander.option('--overlap <time>', overlap, duration(0, 7 * DAY_MS));
  }

  async work([text = '']: string[], options: OutputOptions & { overlap?: number }): Promise<void> {
    const { id: oldId } = await this.named(text);
    const { overlap = DAY_MS } = options;
    const { key, record } = await this.keys.rotate(oldId, overlap);
    printKey({ ...describeNew(record, key), replaces: oldId }, options);
  }
}

@SubCommand({
  name: 'revoke',
  ...KEY,
  description: 'revoke a key for good; applies on every instance within a second',
})
export class RevokeKeyCommand extends KeyCommand {
  protected override readonly examples = ['keys revoke 2', 'keys revoke psk_live_… --yes'];
  protected override readonly asks = true;
  @Inject() private readonly clients!: ClientsService;

  async work([text = '']: string[], options: ConfirmedOptions): Promise<void> {
    const key = await this.named(text);
    if (key.revokedAt === null) {
      await confirm(`Revoke ${nameOf(key)} for good?`, options.yes);
    }
    printOne({ ...describe(await this.keys.revoke(key.id)) }, options);
    if (key.client.deletedAt !== null) {
      return;
    }
    try {
      // Whoever had the key may have created webhooks.
      const texts = await this.clients.whatGoesOn(key.client);
      texts.forEach((text) => process.stderr.write(`\n${text}\n`));
    } catch (error) {
      // The key is revoked, and that is what this command is for.
      const { message } = failureOf(error);
      process.stderr.write(formatError(`what ${key.client.name} still has cannot be listed: ${message}`));
    }
  }
}

@SubCommand({ name: 'ban', ...KEY, description: 'ban a key; applies on every instance within a second' })
export class BanKeyCommand extends KeyCommand {
  protected override readonly examples = ['keys ban 1', 'keys ban 1 --for 2h --yes'];
  protected override readonly asks = true;

  override accept(commander: Commander): void {
    const time = 'duration such as 10m, 2h or 3d; if omitted, the next level of the automatic bans';
    commander.option('--for <time>', time, duration(1_000, 365 * DAY_MS));
  }

  async work([text = '']: string[], options: ConfirmedOptions & { for?: number }): Promise<void> {
    const key = await this.named(text);
    const { id } = key;
    if (key.revokedAt !== null) {
      throw new CommandFailure(`Key ${id} is already revoked and cannot be used, so it needs no ban.`, {
        code: 'key_revoked',
      });
    }
    await confirm(`Ban ${nameOf(key)}?`, options.yes);
    const bannedUntil = await this.quotas.ban(id, options.for);
    printOne({ id, bannedUntil: bannedUntil.toISOString() }, options);
  }
}

@SubCommand({ name: 'unban', ...KEY, description: 'lift the ban of a key' })
export class UnbanKeyCommand extends KeyCommand {
  protected override readonly examples = ['keys unban 1'];
  /** It asks nothing, but scripts may say so. */
  protected override readonly asks = true;

  async work([text = '']: string[], options: OutputOptions): Promise<void> {
    const { id } = await this.named(text);
    await this.quotas.unban(id);
    printOne({ id, bannedUntil: null }, options);
  }
}

@Command({
  name: 'keys',
  description: 'manage API keys',
  subCommands: [
    IssueKeyCommand,
    ListKeysCommand,
    ShowKeyCommand,
    UpdateKeyCommand,
    RotateKeyCommand,
    RevokeKeyCommand,
    BanKeyCommand,
    UnbanKeyCommand,
  ],
})
export class KeysCommand extends CommandGroup {}
