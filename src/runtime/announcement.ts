import type { Logger } from 'pino';
import { PETSTORE } from '../program';
import { DEMO_CLIENT, type Seeded } from '../store/seed';

/**
 * Says that the service is ready. An operator at a terminal sees several lines. If the output is no terminal, one line
 * is written to the log.
 */
export function announce(
  { host, port }: { host: string; port: number },
  firstRun: Pick<Seeded, 'key'> | undefined,
  logger: Logger,
  output: Pick<NodeJS.WriteStream, 'isTTY' | 'write'> = process.stdout,
): void {
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const client = firstRun ? DEMO_CLIENT : `<client> (clients: ${PETSTORE} clients list)`;
  const issue = `To get an API key: ${PETSTORE} keys issue ${client}`;
  if (!output.isTTY) {
    logger.child({}, { level: 'info' }).info({ url }, `Pet Store is ready. ${issue}`);
    logger.flush();
    return;
  }
  output.write(`
Pet Store is ready.

  Service    ${url}
  Docs       ${url}/docs
  OpenAPI    ${url}/openapi.json

${firstRun?.key ? firstKey(url, firstRun.key) : issue}

`);
}

function firstKey(url: string, key: string): string {
  return `Your first API key, for the client ${DEMO_CLIENT} on the free plan. It is shown only once:

  ${key}

Try it:

  curl -i -H 'X-API-Key: ${key}' '${url}/pets?limit=3'`;
}
