import { AuditRecord } from '../../src/modules/audit/audit-trail';
import { DataSource } from 'typeorm';
import type { TestService } from './service';

export interface RecordedEntry {
  id: number;
  at: Date;
  actor: { kind: string; name: string };
  action: string;
  clientId: number | null;
  clientName: string | null;
  keyId: number | null;
  details: Record<string, unknown>;
}

/** The entries of the audit log, the newest first. */
export async function auditEntries({ app }: Pick<TestService, 'app'>): Promise<RecordedEntry[]> {
  const records = app.get(DataSource).getRepository(AuditRecord);
  const rows = await records.find({ order: { at: 'DESC', id: 'DESC' }, take: 1_000 });
  return rows.map(({ actorKind, actor, ...entry }) => ({
    ...entry,
    actor: { kind: actorKind, name: actor },
  }));
}
