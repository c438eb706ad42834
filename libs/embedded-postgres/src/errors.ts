/**
 * The server could not be started or stopped. The message is one line: what failed, where, and what to do. It never
 * contains the password.
 */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
}

const REASONS: Record<string, string> = {
  EACCES: 'this user may not write there; choose another folder or change its permissions',
  EPERM: 'this is not permitted to this user; choose another folder or change its owner',
  EROFS: 'the file system is read-only; choose another folder',
  ENOSPC: 'the disk is full; free some space',
  EDQUOT: 'the disk quota is used up; free some space',
  ENOTDIR: 'a part of the path is a file and not a folder; choose another folder',
  EEXIST: 'a part of the path is a file and not a folder; choose another folder',
};

/** The system error code ('ENOENT', '57P03') of a thrown value; '' if it has none. */
export function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : '';
}

/** The thrown value in one line. */
export function messageOf(error: unknown): string {
  const { message } = (error ?? {}) as { message?: string };
  return (message || codeOf(error) || String(error)).split('\n')[0]!;
}

/** @param doing the failed action, e.g. 'start PostgreSQL in /x/.data' */
export function asEmbeddedPostgresError(error: unknown, doing: string): EmbeddedPostgresError {
  if (error instanceof EmbeddedPostgresError) return error;
  const reason = REASONS[codeOf(error)];
  const place = ` (${(error as NodeJS.ErrnoException).path})`;
  const text = reason === undefined ? messageOf(error) : reason + place;
  return new EmbeddedPostgresError(`cannot ${doing}: ${text}`, { cause: error });
}
