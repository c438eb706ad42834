import { Inject } from '@nestjs/common';
import { Command } from 'nest-commander';
import { Clock, DAY_MS } from '#libs/clock';
import {
  argumentOrOption,
  CommandGroup,
  type Commander,
  type ConfirmedOptions,
  OutputFailure,
  type OutputOptions,
  Subcommand,
  confirm,
  duration,
  futureInstant,
  identifier,
  print,
  printDone,
  printMany,
  printOne,
  shortText,
  commaSeparatedOption,
} from '#libs/command-line';
import { OperatorError, UsageError, failureOf, formatError, printable, shellWord } from '#libs/messages';
import { PETSTORE } from '../../program';
import {
  type ApiKey,
  ClientsService,
  type IssuedKey,
  type KeyReference,
  SCOPES,
  type Scope,
  banEndOf,
  describeKey,
} from '../auth';
import { QuotasService } from './quotas.service';

/** Columns that a table of keys omits if the terminal is too narrow for all columns. */
export const LESS_IMPORTANT = [
  'createdAt',
  'scopes',
  'lastUsedAt',
  'expiresAt',
  'bannedUntil',
  'name',
  'rotatedTo',
];

export function declareClient(command: Commander): void {
  argumentOrOption(command, '--client <client>', 'name or id of the client', { isRequired: true });
}

export function keyReference(text: string): number | string {
  return text.startsWith('psk_live_') ? text : identifier(text);
}

export function describeInList(key: ApiKey, rotations: Map<number, number>, now: number) {
  const rotatedTo = rotations.get(key.id) ?? null;
  return { ...describeKey(key, now), bannedUntil: banEndOf(key, now), rotatedTo };
}

function nameOf({ id, last4, client }: ApiKey): string {
  return `${id} (…${last4}) of ${client.name}`;
}

/** Prints a new key. If printing fails, the error tells the operator to revoke the key, which cannot be shown again. */
function printIssued({ key, record }: IssuedKey, now: number, options: OutputOptions, replaced = {}): void {
  const { id, ...rest } = describeKey(record, now);
  try {
    printOne({ id, key, ...rest, ...replaced }, options);
    if (!options.json) {
      print('\nThis is the only time the key is shown. Send it as X-API-Key: <key>');
    }
  } catch (error) {
    const lost = `Key ${id} was issued but could not be shown. Revoke it: ${PETSTORE} keys revoke ${id}`;
    throw error instanceof OutputFailure ? new OperatorError(`${error.message} ${lost}`) : error;
  }
}

interface TermsOptions extends OutputOptions {
  name?: string;
  scopes?: Scope[];
  expires?: Date | false;
}

function termsOf({ name, scopes, expires }: TermsOptions) {
  return { name, scopes, expiresAt: expires === false ? null : expires };
}

const ALLOWED = 'read for GET and HEAD, write for all other methods, or both';

function declareTerms(command: Commander, scopes: string): void {
  const expires = 'expiry: a time such as 2027-01-31T12:00:00Z, or a day, which means its end in UTC';
  command
    .option('--name <name>', 'what the key is for; the client sees it', shortText(100))
    .addOption(commaSeparatedOption(command, '--scopes <scopes>', scopes, SCOPES))
    .option('--expires <when>', expires, futureInstant);
}

function declareKey(command: Commander): Commander {
  return command.argument('<key>', 'id of the key, or the whole key: psk_live_…', keyReference);
}

@Command({ name: 'keys', description: 'manage API keys' })
export class KeysCommand extends CommandGroup {
  @Inject() private readonly clients!: ClientsService;
  @Inject() private readonly quotas!: QuotasService;
  @Inject() private readonly clock!: Clock;

  @Subcommand({
    description: 'issue a key; it is shown only once',
    examples: ['keys issue acme', 'keys issue acme --name "price list" --scopes read --expires 2027-01-31'],
    declare(command) {
      declareClient(command);
      declareTerms(command, `${ALLOWED} (default: read,write)`);
    },
  })
  async issue(client: string, options: TermsOptions): Promise<void> {
    const issued = await this.clients.issueKey({ client, ...termsOf(options) });
    printIssued(issued, this.clock.now(), options);
  }

  @Subcommand({
    description: 'list keys; shows only their last four characters',
    examples: ['keys list', 'keys list acme --json'],
    declare: (command) =>
      argumentOrOption(command, '--client <client>', 'only keys of the client of this name or id'),
  })
  async list(client: string | undefined, options: OutputOptions): Promise<void> {
    const keys = await this.clients.listKeys(client);
    const rotations = await this.clients.rotations();
    const rows = keys.map((key) => describeInList(key, rotations, this.clock.now()));
    const whenEmpty = `There are no keys yet. Issue one: ${PETSTORE} keys issue ${shellWord(client ?? '<client>')}`;
    printMany(rows, options, whenEmpty, LESS_IMPORTANT);
  }

  @Subcommand({
    description: 'show a key and its client; accepts a whole key too, such as one that has leaked',
    examples: ['keys show 2', 'keys show psk_live_…'],
    declare: declareKey,
  })
  async show(reference: KeyReference, options: OutputOptions): Promise<void> {
    const key = await this.clients.findKey(reference);
    const rotations = await this.clients.rotations();
    const [replaces = null] = [...rotations].find(([, newKeyId]) => newKeyId === key.id) ?? [];
    const { revokedAt, overlapEndsAt } = key;
    const described = describeInList(key, rotations, this.clock.now());
    printOne({ ...described, overlapEndsAt, replaces, revokedAt }, options);
  }

  @Subcommand({
    description: 'change the name, scopes or expiry of a key; applies on every instance within a second',
    examples: [
      'keys update 2 --name "price list" --scopes read',
      'keys update 2 --expires 2027-01-31',
      'keys update 2 --no-expires',
    ],
    declare(command) {
      declareTerms(declareKey(command), ALLOWED);
      command.option('--no-expires', 'make the key valid until it is revoked');
      command.hook('preAction', () => {
        if (['name', 'scopes', 'expires'].every((option) => command.getOptionValue(option) === undefined)) {
          throw new UsageError('name a change: --name, --scopes, --expires or --no-expires.');
        }
      });
    },
  })
  async update(reference: KeyReference, options: TermsOptions): Promise<void> {
    const updated = await this.clients.updateKey(reference, termsOf(options));
    printOne(describeKey(updated, this.clock.now()), options);
  }

  @Subcommand({
    description:
      'replace a key with a new one; the old key stays valid for a while, and an active ban is inherited',
    examples: ['keys rotate 1', 'keys rotate 1 --overlap 30m'],
    declare(command) {
      const overlap = 'how long the old key stays valid: 0 to 7d (default: 24h)';
      declareKey(command).option('--overlap <time>', overlap, duration(0, 7 * DAY_MS));
    },
  })
  async rotate(reference: KeyReference, options: OutputOptions & { overlap?: number }): Promise<void> {
    const { replaced, ...issued } = await this.clients.rotateKey(reference, options.overlap ?? DAY_MS);
    printIssued(issued, this.clock.now(), options, {
      replaces: replaced.id,
      oldKeyExpiresAt: replaced.overlapEndsAt,
    });
  }

  @Subcommand({
    description: 'revoke a key for good; applies on every instance within a second',
    examples: ['keys revoke 2', 'keys revoke psk_live_… --yes'],
    declare: declareKey,
    takesYes: true,
  })
  async revoke(reference: KeyReference, options: ConfirmedOptions): Promise<void> {
    const key = await this.clients.findKey(reference);
    const isRevoked = key.revokedAt !== null;
    if (!isRevoked) {
      await confirm(`Revoke key ${nameOf(key)} for good?`, options.yes);
    }
    const outcome = isRevoked ? 'was already revoked' : 'has been revoked';
    const revoked = describeKey(await this.clients.revokeKey(key.id), this.clock.now());
    printDone(`Key ${nameOf(key)} ${outcome}.`, revoked, options);
    if (key.client.deletedAt !== null) {
      return;
    }
    try {
      const texts = await this.clients.describeRemaining(key.client);
      const lines = texts.flatMap((text) => ['', ...text.split('\n')]);
      lines.forEach((line) => process.stderr.write(`${printable(line)}\n`));
    } catch (error) {
      // If the webhooks cannot be listed, print the error, but do not let the command fail, because the key is already
      // revoked.
      const { message } = failureOf(error);
      process.stderr.write(formatError(`the webhooks of ${key.client.name} cannot be listed: ${message}`));
    }
  }

  @Subcommand({
    description: 'ban a key; applies on every instance within a second',
    examples: ['keys ban 1', 'keys ban 1 --for 2h --yes'],
    declare(command) {
      const time = 'duration such as 10m, 2h or 3d (default: the next level of the automatic bans)';
      declareKey(command).option('--for <time>', time, duration(1_000, 365 * DAY_MS));
    },
    takesYes: true,
  })
  async ban(reference: KeyReference, options: ConfirmedOptions & { for?: number }): Promise<void> {
    const key = await this.clients.findKey(reference);
    const { id } = key;
    if (key.revokedAt !== null) {
      const message = `Key ${id} is already revoked and cannot be used, so it needs no ban.`;
      throw new OperatorError(message, 'key_revoked');
    }
    await confirm(`Ban key ${nameOf(key)}?`, options.yes);
    const bannedUntil = await this.quotas.ban(id, options.for);
    const sentence = `Key ${nameOf(key)} is banned until ${bannedUntil.toJSON()}.`;
    printDone(sentence, { id, bannedUntil }, options);
  }

  @Subcommand({
    description: 'lift the ban of a key',
    examples: ['keys unban 1'],
    declare: declareKey,
    takesYes: true,
  })
  async unban(reference: KeyReference, options: OutputOptions): Promise<void> {
    const key = await this.clients.findKey(reference);
    const wasBanned = await this.quotas.unban(key.id);
    const outcome = wasBanned
      ? `The ban of key ${nameOf(key)} has been lifted.`
      : `Key ${nameOf(key)} was not banned.`;
    const next = await this.nextAnswerTo(key);
    printDone(`${outcome} ${next}`, { id: key.id, wasBanned, bannedUntil: null }, options);
  }

  /**
   * Tells the operator whether requests with a key are accepted now that the key is not banned. Such requests are still
   * refused if the key is revoked or expired, or if the limits of its client are used up.
   */
  private async nextAnswerTo(key: ApiKey): Promise<string> {
    const { state, client } = describeKey(key, this.clock.now());
    if (state === 'revoked' || state === 'expired') {
      return `The key is ${state}, so its requests get 401.`;
    }
    const { minute, day } = await this.quotas.overviewOf(client);
    const ends = [minute, day].flatMap(({ remaining, resetAt }) => (remaining === 0 ? Number(resetAt) : []));
    if (ends.length === 0) {
      return `Requests left: ${minute.remaining} this minute, ${day.remaining} today.`;
    }
    const end = new Date(Math.max(...ends)).toJSON();
    return `The limits of ${client} are used up, so requests get 429 until ${end}. To accept requests now: ${PETSTORE} quotas reset ${shellWord(client)}`;
  }
}
