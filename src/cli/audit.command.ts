import { Command, Option } from 'nest-commander';
import { AuditTrail, type RecordedEntry } from '../modules/audit';
import { ClientsService, KeysService } from '../modules/auth';
import { ListingCommand } from './command/command';
import { type OutputOptions, type Row, isForPeople, printMany } from './output/output';
import { keyReference, pastInstant, wholeNumber } from './command/parse';

interface AuditOptions extends OutputOptions {
  client?: string;
  key?: number | string;
  action?: string;
  since?: Date;
  limit: string;
}

@Command({ name: 'audit', description: 'show who changed which client or key, newest first' })
export class AuditCommand extends ListingCommand {
  protected override readonly examples = [
    'audit',
    'audit --client acme --since 2026-11-01',
    'audit --key 2 --action key.ban --json',
  ];

  constructor(
    private readonly trail: AuditTrail,
    private readonly clients: ClientsService,
    private readonly keys: KeysService,
  ) {
    super();
  }

  @Option({ flags: '--client <name>', description: 'only entries about this client' })
  parseClient(text: string): string {
    return text;
  }

  @Option({ flags: '--key <key>', description: 'only entries about this key: its id, or the whole key' })
  parseKey(text: string): number | string {
    return keyReference('--key', text);
  }

  @Option({
    flags: '--action <prefix>',
    description: 'only actions that start with this, such as key. or client.created',
  })
  parseAction(text: string): string {
    return text;
  }

  @Option({
    flags: '--since <when>',
    description: 'only entries since a day, a time, or 90s, 10m, 2h or 7d ago',
  })
  parseSince(text: string): Date {
    return pastInstant('--since', text, Date.now());
  }

  @Option({ flags: '--limit <entries>', description: 'maximum number of entries', defaultValue: '50' })
  parseLimit(text: string): string {
    return text;
  }

  async run(_arguments: string[], options: AuditOptions): Promise<void> {
    const { client, key, action, since } = options;
    const limit = wholeNumber('--limit', options.limit, { min: 1, max: 10_000 });
    await this.store.open();
    const keyId = typeof key === 'string' ? (await this.keys.byReference(key)).id : key;
    const entries = await this.trail.newest({ client, keyId, actionPrefix: action, since, limit });
    if (entries.length === 0 && client !== undefined) {
      // Entries of deleted clients are found too. A name without entries that is no client either is probably a typo.
      await this.clients.named(client);
    }
    const rows = entries.map(isForPeople(options) ? forPeople : forPrograms);
    await printMany(rows, options, 'There are no entries.');
  }
}

function forPrograms({ clientName, ...entry }: RecordedEntry): Row {
  return { ...entry, at: entry.at.toISOString(), client: clientName };
}

function forPeople({ at, actor, action, clientName, keyId, details }: RecordedEntry): Row {
  return {
    at: at.toISOString(),
    actor: actor.kind === 'key' ? `key ${actor.name}` : actor.name,
    action,
    client: clientName,
    keyId,
    details: detailsInShort(details),
  };
}

/** The details of an entry in one line, without unchanged values; null if there are none. */
export function detailsInShort(details: Readonly<Record<string, unknown>>): string | null {
  const parts = Object.entries(details).flatMap(([name, value]) => partOf(name, value));
  return parts.length === 0 ? null : parts.join(', ');
}

function partOf(name: string, value: unknown): string[] {
  if (!isChange(value)) {
    return value === null ? [] : [`${name} ${inShort(value)}`];
  }
  const [before, after] = [inShort(value.before), inShort(value.after)];
  return before === after ? [] : [`${name} ${before} → ${after}`];
}

function isChange(value: unknown): value is { before: unknown; after: unknown } {
  return typeof value === 'object' && value !== null && 'before' in value && 'after' in value;
}

function inShort(value: unknown): string {
  if (value === null) {
    return '-';
  }
  return Array.isArray(value) ? value.join('+') : String(value as string | number | boolean);
}
