import { Command, Option } from 'nest-commander';
import type { AuditFilter, RecordedEntry } from '../modules/audit';
import { detailsInShort } from './audit-details';
import { ListingCommand, administerAccounts } from './command/command';
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
    const entries = await read({ client, actionPrefix: action, since, limit }, key);
    const rows = entries.map(isForPeople(options) ? forPeople : forPrograms);
    await printMany(rows, options, 'There are no entries.');
  }
}

/** Finds entries of deleted clients too. A name without entries that is no client either is probably a typo. */
async function read(filter: AuditFilter, key: number | string | undefined): Promise<RecordedEntry[]> {
  const [{ AuditTrail }, { ClientsService, KeysService }] = await Promise.all([
    import('../modules/audit/index.js'),
    import('../modules/auth/administration.js'),
  ]);
  return administerAccounts(async (services) => {
    const keyId = typeof key === 'string' ? (await services.get(KeysService).byReference(key)).id : key;
    const entries = await services.get(AuditTrail).newest({ ...filter, keyId });
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
    at: at.toISOString(),
    actor: actor.kind === 'key' ? `key ${actor.name}` : actor.name,
    action,
    client: clientName,
    keyId,
    details: detailsInShort(details),
  };
}
