import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where the embedded database of this folder is, for a look into it past the service. */
export function embeddedUrl(folder: string): string {
  const read = (name: string) => readFileSync(join(folder, name), 'utf8').trim();
  return `postgres://postgres:${encodeURIComponent(read('password'))}@127.0.0.1:${read('port')}/petstore`;
}
