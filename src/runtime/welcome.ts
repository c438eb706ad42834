import { PETSTORE } from './command-name';

export interface Startup {
  url: string;
  /** The key of the first run; null on later ones. */
  key: string | null;
  client: string;
}

/** What a person reads when the service has started. */
export function welcome({ url, key, client }: Startup): string {
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
