import { Command, Help, Option } from 'nest-commander';
import type { AuditFilter, RecordedEntry } from '../modules/audit';
import { ReportingCommand, administer, examples } from './command';
import { type Row, printMany } from './output';
import { duration, wholeNumber } from './parse';

interface AuditOptions {
  client?: string;
  key?: number;
  action?: string;
  since?: number;
  limit: string;
  json?: boolean;
}

const SINCE = { min: 1_000, max: 3_650 * 86_400_000 };

@Command({ name: 'audit', description: 'show who changed which client or key, newest first' })
export class AuditCommand extends ReportingCommand {
  @Option({ flags: '--client <name>', description: 'only entries about this client' })
  parseClient(text: string): string {
    return text;
  }

  @Option({ flags: '--key <id>', description: 'only entries about this key' })
  parseKey(text: string): number {
    return wholeNumber('--key', text, { min: 1, max: Number.MAX_SAFE_INTEGER });
  }

  @Option({
    flags: '--action <prefix>',
    description: 'only actions that start with this, such as key. or client.created',
  })
  parseAction(text: string): string {
    return text;
  }

  @Option({ flags: '--since <time>', description: 'only the last 90s, 10m, 2h or 7d, for example' })
  parseSince(text: string): number {
    return duration('--since', text, SINCE);
  }

  @Option({ flags: '--limit <entries>', description: 'maximum number of entries', defaultValue: '50' })
  parseLimit(text: string): string {
    return text;
  }

  @Help('after')
  examples(): string {
    return examples('audit', 'audit --client acme --since 7d', 'audit --key 2 --action key.ban --json');
  }

  async run(_arguments: string[], options: AuditOptions): Promise<void> {
    const { client, key, action, since, json } = options;
    const filter: AuditFilter = {
      client,
      keyId: key,
      actionPrefix: action,
      since: since === undefined ? undefined : new Date(Date.now() - since),
      limit: wholeNumber('--limit', options.limit, { min: 1, max: 10_000 }),
    };
    const entries = await read(filter);
    printMany(entries.map(json ? forPrograms : forPeople), json, 'There are no entries.');
  }
}

/** A client that is gone is still found by its name; one that never was is more likely a slip of the pen. */
async function read(filter: AuditFilter): Promise<RecordedEntry[]> {
  const [{ AuditTrail }, { ClientsService }] = await Promise.all([
    import('../modules/audit/index.js'),
    import('../modules/auth/index.js'),
  ]);
  return administer(async (services) => {
    const entries = await services.get(AuditTrail).newest(filter);
    if (entries.length === 0 && filter.client !== undefined) {
      await services.get(ClientsService).named(filter.client);
    }
    return entries;
  });
}

function forPrograms({ clientName, ...entry }: RecordedEntry): Row {
  return { ...entry, at: entry.at.toISOString(), client: clientName };
}

function forPeople({ at, actor, action, clientName, keyId, details }: RecordedEntry): Row {
  return {
    time: at.toISOString(),
    // A key and the service are told by their kind; a person by a name that says where they sit.
    who: actor.kind === 'key' ? `key ${actor.name}` : actor.name,
    what: action,
    client: clientName,
    key: keyId,
    details: detailsInShort(details),
  };
}

/** The details of an entry in one line, without what a change left as it was. Null, as other empty values in a table, where there is nothing to tell. */
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
