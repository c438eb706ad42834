/**
 * Matches a line of the server's log with a fatal error that explains why the server does not start. These fatal errors
 * explain nothing and are not matched:
 * - `the database system is starting up` or a similar message: a client has connected before the server was ready.
 * - `terminating connection …` and `postmaster exited …`: a client session of an earlier server, which was killed, ends.
 * - `cannot abort transaction …`: the consequence of an error that is in an earlier line.
 */
const FATAL = /\b(FATAL|PANIC): {2}(?!the database system is |cannot abort |terminating |postmaster exited )/;

/** Returns the line of `output` that best explains a failure: the last fatal error, or else the last error or line. */
export function reasonIn(output: string): string {
  const lines = output.split(/\r?\n/).filter((line) => line.trim() !== '');
  const best =
    lines.findLast((line) => FATAL.test(line)) ??
    lines.findLast((line) => /\berror\b|could not|cannot|No space left/i.test(line)) ??
    lines.at(-1);
  // Remove the beginning of a line of the server log: the time, the process id and the severity, such as `FATAL:`.
  return best?.replace(/^.*?\b(FATAL|PANIC|ERROR|LOG):\s+/, '').trim() ?? 'no error message was written';
}

const REMEDIES: [pattern: RegExp, remedy: string][] = [
  // This program has created the folder `init-…` with the mode 0700, which PostgreSQL demands. If PostgreSQL refuses the
  // folder nevertheless, the folder is on a file system that does not store modes.
  [/init-\w+" has invalid perm|could not change perm/, 'choose a folder on a file system with owners'],
  [/invalid permissions/, 'run chmod 700 on that directory'],
  [/wrong ownership/, 'run this program as the owner of that directory'],
  [/could not look up effective user ID/, 'run this program as a user that is listed in /etc/passwd'],
  [
    /incompatible with server/,
    'use a new folder, and move the data with the version of PostgreSQL that wrote them',
  ],
  [/No space left|ENOSPC|quota/i, 'free some space on that disk'],
  [
    /Cannot allocate memory|out of memory|shared memory|ENOMEM/i,
    'give PostgreSQL more memory, or stop other programs',
  ],
  [/Too many open files|EMFILE|ENFILE/i, 'raise the limit of open files (ulimit -n)'],
  [/shared libraries/, 'install that library'],
  [
    /configuration (file|parameter)|syntax error in file|invalid value for/,
    'correct postgresql.conf or postgresql.auto.conf in the data folder',
  ],
  [
    /\b(EACCES|EPERM|EROFS)\b|permission|permitted|read-only/i,
    'let this user write to that folder, or choose another folder',
  ],
  [/ENOENT.*(realpath|l?stat)/, 'create the folder that the symbolic link points to'],
  [
    /could not (open|read|locate|find|access)|not a valid data directory|WAL directory|invalid (checkpoint|primary)|PANIC/i,
    'restore the folder from a backup',
  ],
];

export function withRemedy(reason: string): string {
  const [, remedy = 'choose another folder'] = REMEDIES.find(([pattern]) => pattern.test(reason)) ?? [];
  return `${reason}; ${remedy}`;
}

/**
 * The error if the server cannot be started or stopped. The message is one line that says what failed, where, why, and
 * what to do.
 */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}

export function errorCodeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? '';
}

export function messageOf(error: unknown): string {
  return (error as Error).message.split('\n')[0]!;
}

export function toEmbeddedPostgresError(error: unknown, doing: string): EmbeddedPostgresError {
  if (error instanceof EmbeddedPostgresError) return error;
  const reason = errorCodeOf(error) === '' ? messageOf(error) : withRemedy(messageOf(error));
  return new EmbeddedPostgresError(`cannot ${doing}: ${reason}`, { cause: error });
}
