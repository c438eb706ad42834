import { Inject } from '@nestjs/common';
import { Command, SubCommand } from 'nest-commander';
import { DAY_MS } from '#libs/clock';
import { SCOPES, type Scope } from './api-key';
import { KeysService, banEndOf, describeKey } from './keys.service';
import { QuotasService } from '../quotas';
import { ClientsService } from './clients.service';
import { failureOf } from '../../runtime/failures';
import { formatError } from '../../runtime/messages';
import { CommandGroup, type Commander, type ConfirmedOptions, StoreCommand } from '../../cli/command/command';
import { CommandFailure, UsageError } from '../../cli/command/failure';
import { confirm } from '../../cli/command/operator';
import { duration, futureInstant, keyReference, shortText, someOf } from '../../cli/command/option';
import { type OutputOptions, printDone, printKey, printMany, printOne } from '../../cli/command/output';

type Key = Awaited<ReturnType<KeysService['byId']>>;
type Input = [key: number | string];

/** A command on one key. */
abstract class KeyCommand extends StoreCommand {
  @Inject() protected readonly keys!: KeysService;
  @Inject() protected readonly quotas!: QuotasService;

  protected override declare(command: Commander): void {
    command.argument('<key>', 'id of the key, or the whole key: psk_live_…', keyReference);
  }
}

function nameOf({ id, last4, client }: Key): string {
  return `${id} (…${last4}) of ${client.name}`;
}

/** A new key stands next to its id. */
function describeNew(record: Key, key: string) {
  const { id, ...rest } = describeKey(record);
  return { id, key, ...rest };
}

interface TermsOptions extends OutputOptions {
  name?: string;
  scopes?: Scope[];
  expires?: Date;
}

type UpdateOptions = Omit<TermsOptions, 'expires'> & { expires?: Date | false };

/** Options of what an operator decides for a key. */
function declareTerms(command: Commander, scopes: string): void {
  const expires = 'a day (valid until its end, UTC) or a time such as 2027-01-31T12:00:00Z';
  command
    .option('--name <name>', 'what the key is for; the client sees it', shortText(100))
    .addOption(command.createOption('--scopes <scopes>', scopes).choices(SCOPES).argParser(someOf(SCOPES)))
    .option('--expires <when>', expires, futureInstant);
}

@SubCommand({ name: 'issue', description: 'issue a key; it is shown only once' })
export class IssueKeyCommand extends StoreCommand {
  protected override readonly examples = [
    'keys issue --client acme --json',
    'keys issue --client acme --name "price list" --scopes read --expires 2027-01-31',
  ];
  @Inject() private readonly keys!: KeysService;

  protected override declare(command: Commander): void {
    command.requiredOption('--client <name>', 'client that the key is for (required)');
    declareTerms(command, 'what it may be used for, by default both');
  }

  protected async execute(_inputs: [], options: TermsOptions & { client: string }): Promise<void> {
    const { client, name, scopes, expires: expiresAt } = options;
    const { key, record } = await this.keys.issue({ client, name, scopes, expiresAt });
    printKey(describeNew(record, key), options);
  }
}

@SubCommand({ name: 'list', description: 'list keys; shows only their last four characters' })
export class ListKeysCommand extends StoreCommand {
  protected override readonly examples = ['keys list', 'keys list --client acme --json'];
  @Inject() private readonly keys!: KeysService;

  protected override declare(command: Commander): void {
    command.option('--client <name>', 'only keys of this client');
  }

  protected async execute(_inputs: [], options: OutputOptions & { client?: string }): Promise<void> {
    const keys = await this.keys.list(options.client);
    const rows = keys.map((key) => ({ ...describeKey(key), bannedUntil: banEndOf(key) }));
    printMany(rows, options, 'There are no keys yet.');
  }
}

@SubCommand({ name: 'show', description: 'show a key and its client, for instance of a leaked key' })
export class ShowKeyCommand extends KeyCommand {
  protected override readonly examples = ['keys show 2', 'keys show psk_live_…'];

  protected async execute([reference]: Input, options: OutputOptions): Promise<void> {
    const key = await this.keys.byReference(reference);
    printOne({ ...describeKey(key), revokedAt: key.revokedAt, bannedUntil: banEndOf(key) }, options);
  }
}

@SubCommand({
  name: 'update',
  description: 'change the name, scopes or expiry of a key; applies on every instance within a second',
})
export class UpdateKeyCommand extends KeyCommand {
  protected override readonly examples = [
    'keys update 2 --name "price list" --scopes read',
    'keys update 2 --expires 2027-01-31',
    'keys update 2 --no-expires',
  ];

  protected override declare(command: Commander): void {
    super.declare(command);
    declareTerms(command, 'what it may be used for');
    command.option('--no-expires', 'valid until it is revoked');
    command.hook('preAction', () => {
      if (['name', 'scopes', 'expires'].every((option) => command.getOptionValue(option) === undefined)) {
        throw new UsageError('name what to change: --name, --scopes or --expires.');
      }
    });
  }

  protected async execute([reference]: Input, options: UpdateOptions): Promise<void> {
    const { name, scopes, expires } = options;
    const { id } = await this.keys.byReference(reference);
    const expiresAt = expires === false ? null : expires;
    printOne(describeKey(await this.keys.update(id, { name, scopes, expiresAt })), options);
  }
}

@SubCommand({
  name: 'rotate',
  description:
    'replace a key with a new one; the old key stays valid for a while, and an active ban is inherited',
})
export class RotateKeyCommand extends KeyCommand {
  protected override readonly examples = ['keys rotate 1', 'keys rotate 1 --overlap 30m'];

  protected override declare(command: Commander): void {
    super.declare(command);
    const overlap = 'how long the old key stays valid: 0 to 7d (default: 24h)';
    command.option('--overlap <time>', overlap, duration(0, 7 * DAY_MS));
  }

  protected async execute([reference]: Input, options: OutputOptions & { overlap?: number }): Promise<void> {
    const { id: oldId } = await this.keys.byReference(reference);
    const { overlap = DAY_MS } = options;
    const { key, record } = await this.keys.rotate(oldId, overlap);
    printKey({ ...describeNew(record, key), replaces: oldId }, options);
  }
}

@SubCommand({
  name: 'revoke',
  description: 'revoke a key for good; applies on every instance within a second',
})
export class RevokeKeyCommand extends KeyCommand {
  protected override readonly examples = ['keys revoke 2', 'keys revoke psk_live_… --yes'];
  protected override readonly takesYes = true;
  @Inject() private readonly clients!: ClientsService;

  protected async execute([reference]: Input, options: ConfirmedOptions): Promise<void> {
    const key = await this.keys.byReference(reference);
    const isRevoked = key.revokedAt !== null;
    if (!isRevoked) {
      await confirm(`Revoke key ${nameOf(key)} for good?`, options.yes);
    }
    const outcome = isRevoked ? 'was already revoked' : 'has been revoked';
    const revoked = describeKey(await this.keys.revoke(key.id));
    printDone(`Key ${nameOf(key)} ${outcome}.`, revoked, options);
    if (key.client.deletedAt !== null) {
      return;
    }
    try {
      // What somebody began with the key, such as webhooks, is not over with it.
      const texts = await this.clients.describeRemaining(key.client);
      texts.forEach((text) => process.stderr.write(`\n${text}\n`));
    } catch (error) {
      // The key is revoked, and that is what this command is for.
      const { message } = failureOf(error);
      process.stderr.write(formatError(`what ${key.client.name} still has cannot be listed: ${message}`));
    }
  }
}

@SubCommand({ name: 'ban', description: 'ban a key; applies on every instance within a second' })
export class BanKeyCommand extends KeyCommand {
  protected override readonly examples = ['keys ban 1', 'keys ban 1 --for 2h --yes'];
  protected override readonly takesYes = true;

  protected override declare(command: Commander): void {
    super.declare(command);
    const time = 'duration such as 10m, 2h or 3d; if omitted, the next level of the automatic bans';
    command.option('--for <time>', time, duration(1_000, 365 * DAY_MS));
  }

  protected async execute([reference]: Input, options: ConfirmedOptions & { for?: number }): Promise<void> {
    const key = await this.keys.byReference(reference);
    const { id } = key;
    if (key.revokedAt !== null) {
      throw new CommandFailure(`Key ${id} is already revoked and cannot be used, so it needs no ban.`, {
        code: 'key_revoked',
      });
    }
    await confirm(`Ban key ${nameOf(key)}?`, options.yes);
    const bannedUntil = await this.quotas.ban(id, options.for);
    const sentence = `Key ${nameOf(key)} is banned until ${bannedUntil.toJSON()}.`;
    printDone(sentence, { id, bannedUntil }, options);
  }
}

@SubCommand({ name: 'unban', description: 'lift the ban of a key' })
export class UnbanKeyCommand extends KeyCommand {
  protected override readonly examples = ['keys unban 1'];
  /** It asks nothing, but scripts may say so. */
  protected override readonly takesYes = true;

  protected async execute([reference]: Input, options: OutputOptions): Promise<void> {
    const key = await this.keys.byReference(reference);
    await this.quotas.unban(key.id);
    printDone(`Key ${nameOf(key)} is not banned.`, { id: key.id, bannedUntil: null }, options);
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
