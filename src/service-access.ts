import { OperatorError, UsageError } from '#libs/messages';
import { PETSTORE } from './program';

/**
 * Finds the service that a command calls unless `--url` is given. The class is abstract because commands of modules inject
 * it, and modules must not import `serviceAddress` of `store/`. `CliModule` provides the implementation.
 */
export abstract class RunningService {
  abstract address(): Promise<string>;
}

export const URL_OPTION = [
  '--url <url>',
  'address of the service (default: a running instance of this store on this machine, or HOST and PORT)',
  serviceUrl,
] as const;

function serviceUrl(text: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) {
    throw new UsageError(`"${text}" is not an address such as https://petstore.example.`);
  }
  const { username, password } = new URL(text);
  if (username !== '' || password !== '') {
    throw new UsageError('the address must have no user and password. The API key comes from PETSTORE_KEY.');
  }
  return text.replace(/\/$/, '');
}

export function serviceUnreachable(url: string, fetchError: unknown): OperatorError {
  // If the host has several addresses and the connection to each of them fails, then the error has a code but no message.
  // The code is shown in that case.
  const { message, code } = ((fetchError as Error).cause ?? fetchError) as NodeJS.ErrnoException;
  const remedy =
    message === 'bad port'
      ? 'Node.js and browsers block this port: let the service listen on another one, such as 3000.'
      : `Start the service with ${PETSTORE} serve, or name another address with --url.`;
  return new OperatorError(`No service answers at ${url} (${message || code}). ${remedy}`, 'no_service');
}

export function keyInEnvironment({ PETSTORE_KEY = '' }: NodeJS.ProcessEnv): string {
  const key = PETSTORE_KEY.trim();
  if (key === '') {
    throw new UsageError(`PETSTORE_KEY is not set. Set it to an API key: ${PETSTORE} keys issue <name>`);
  }
  // Check the characters here, because `fetch` would show an invalid key in its error message.
  if (!/^[!-~]+$/.test(key)) {
    throw new UsageError('PETSTORE_KEY takes an API key, which is printable ASCII without spaces.');
  }
  return key;
}
