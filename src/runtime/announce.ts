import type { INestApplicationContext } from '@nestjs/common';
import { PETSTORE } from './messages';
import type { OpenDatabase } from './open-database';
import { DEMO_CLIENT, SeedService } from './seed';

interface Startup {
  url: string;
  /** The key of the first run; null on later ones. */
  key: string | null;
  client: string;
}

/** Prints the address of the service. The first start of an embedded database also seeds the store and prints a key. */
export async function announce(
  context: INestApplicationContext,
  database: OpenDatabase,
  host: string,
  port: number,
): Promise<void> {
  const seed = context.get(SeedService);
  const first = database.embedded && (await seed.isFirstRun());
  const key = first ? (await seed.seed()).key : null;
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  process.stdout.write(welcome({ url, key, client: DEMO_CLIENT }));
}

/** The text for people after the start. */
function welcome({ url, key, client }: Startup): string {
  const lines = [
    '',
    `Pet Store is ready.`,
    '',
    `  Service    ${url}`,
    `  Docs       ${url}/docs`,
    `  OpenAPI    ${url}/openapi.json`,
    '',
    ...(key === null ? laterStart() : firstStart(url, key, client)),
    '',
  ];
  return `${lines.join('\n')}\n`;
}

function firstStart(url: string, key: string, client: string): string[] {
  return [
    `Your first API key, for the client ${client} on the free plan. It is shown only once:`,
    '',
    `  ${key}`,
    '',
    'Try it:',
    '',
    `  curl -i -H 'X-API-Key: ${key}' '${url}/pets?limit=3'`,
  ];
}

function laterStart(): string[] {
  return [`To issue a key: ${PETSTORE} keys issue --client <name> (clients: ${PETSTORE} clients list)`];
}
