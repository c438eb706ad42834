import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where the embedded database of this folder is, for a look into it past the service. */
export function embeddedUrl(folder: string, database = 'petstore'): string {
  const password = readFileSync(join(folder, 'password'), 'utf8').trim();
  return `postgres://postgres:${password}@${encodeURIComponent(join(folder, 'data'))}:5432/${database}`;
}
