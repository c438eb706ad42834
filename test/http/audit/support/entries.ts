import { AuditTrail, type RecordedEntry } from '../../../../src/modules/audit';
import type { TestService } from '../../../support/service';

/** The entries that the work has added, the oldest first. */
export async function entriesOf(
  { app }: TestService,
  work: () => Promise<unknown>,
): Promise<Omit<RecordedEntry, 'id'>[]> {
  const newest = () => app.get(AuditTrail).newest({ limit: 1_000 });
  const known = new Set((await newest()).map(({ id }) => id));
  await work();
  return (await newest())
    .filter(({ id }) => !known.has(id))
    .reverse()
    .map(({ id: _id, ...entry }) => entry);
}
