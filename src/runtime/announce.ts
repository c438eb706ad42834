import type { INestApplicationContext } from '@nestjs/common';
import { PETSTORE } from './messages';
import type { OpenDatabase } from './open-database';
import { DEMO_CLIENT, SeedService } from './seed';

/**
 * Prints the address of the service. The first start of an embedded database also seeds the store. On a terminal it prints a
 * key; elsewhere a log may keep what is printed, and others may read it.
 */
export async function announce(
  context: INestApplicationContext,
  database: Pick<OpenDatabase, 'embedded'>,
  { host, port }: { host: string; port: number },
  output: Pick<NodeJS.WriteStream, 'isTTY' | 'write'> = process.stdout,
): Promise<void> {
  const seed = context.get(SeedService);
  const first = database.embedded && (await seed.isFirstRun());
  const key = first ? (await seed.seed(Boolean(output.isTTY))).key : null;
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const client = first ? DEMO_CLIENT : '<client>';
  output.write(`
Pet Store is ready.

  Service    ${url}
  Docs       ${url}/docs
  OpenAPI    ${url}/openapi.json

${key === null ? `To issue a key: ${PETSTORE} keys issue ${client} (clients: ${PETSTORE} clients list)` : firstKey(url, key)}

`);
}

function firstKey(url: string, key: string): string {
  return `Your first API key, for the client ${DEMO_CLIENT} on the free plan. It is shown only once:

  ${key}

Try it:

  curl -i -H 'X-API-Key: ${key}' '${url}/pets?limit=3'`;
}
