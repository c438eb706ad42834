import type { PetStatus } from '../../modules/pets';
import { UsageError } from '../usage-error';

const STATUSES: readonly PetStatus[] = ['available', 'pending', 'sold'];

/** Parses a comma-separated list of statuses. */
export function petStatuses(text: string): PetStatus[] {
  const words = text.split(',');
  const found = STATUSES.filter((status) => words.includes(status));
  if (found.length !== words.length) {
    throw new UsageError(`--status takes ${STATUSES.join(', ')} or several of them, not "${text}".`);
  }
  return found;
}
