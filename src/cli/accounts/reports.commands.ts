import { Inject } from '@nestjs/common';
import { Command } from 'nest-commander';
import { AuditTrail, type RecordedEntry } from '../../modules/audit';
import { ClientsService, KeysService } from '../../modules/auth';
import { DeprecationReport } from '../../modules/deprecations';
import { ListingCommand } from '../command/command';
import { anyText, Days, keyReference, Limit, pastInstant, Value } from '../command/option';
import { isForPeople, printMany, type Row } from '../output/output';

@Command({ name: 'audit', description: 'show who changed which client or key, newest first' })
export class AuditCommand extends ListingCommand {
  protected override readonly examples = [
    'audit',
    'audit --client acme --since 2026-11-01',
    'audit --key 2 --action key.ban --json',
  ];
  @Inject() private readonly trail!: AuditTrail;
  @Inject() private readonly clients!: ClientsService;
  @Inject() private readonly keys!: KeysService;

  @Value('--client <name>', 'only entries about this client', anyText) client?: string;
  @Value('--key <key>', 'only entries about this key: its id, or the whole key', keyReference)
  key?: number | string;

  @Value('--action <prefix>', 'only actions that start with this, such as key. or client.created', anyText)
  action?: string;

  @Value('--since <when>', 'only entries since a day, a time, or 90s, 10m, 2h or 7d ago', pastInstant)
  since?: Date;

  @Limit('entries', 10_000, 50) limit!: number;

  async run(): Promise<void> {
    const { client, key, action: actionPrefix, since, limit } = this;
    await this.store.open();
    const keyId = typeof key === 'string' ? (await this.keys.byReference(key)).id : key;
    const entries = await this.trail.newest({ client, keyId, actionPrefix, since, limit });
    if (entries.length === 0 && client !== undefined) {
      // Entries of deleted clients are found too. A name without entries that is no client either is probably a typo.
      await this.clients.named(client);
    }
    const rows = entries.map(isForPeople(this) ? forPeople : forPrograms);
    await printMany(rows, this, 'There are no entries.');
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

@Command({
  name: 'deprecations',
  description: 'show who still calls deprecated operations, how often, and when last',
})
export class DeprecationsCommand extends ListingCommand {
  protected override readonly examples = ['deprecations', 'deprecations --days 7 --client acme'];
  @Inject() private readonly clients!: ClientsService;
  @Inject() private readonly report!: DeprecationReport;

  @Days(90) days!: number;
  @Value('--client <name>', 'only calls of this client', anyText) client?: string;

  async run(): Promise<void> {
    await this.store.open();
    if (this.client !== undefined) {
      await this.clients.named(this.client);
    }
    const uses = await this.report.of(this.days, this.client);
    const rows = uses.map(({ lastCallAt, ...use }) => ({ ...use, lastCallAt: lastCallAt.toISOString() }));
    await printMany(rows, this, 'Nobody has called a deprecated operation.');
  }
}
