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
  ELOOP: 'it is a symbolic link; put what it points to there',
  ENOENT: 'it is missing; put it back',
  EISDIR: 'a folder stands where a file belongs; move it away',
};

/** The system error code ('ENOENT', '57P03') of a thrown value; undefined if it has none. */
export function codeOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : undefined;
}

/** The thrown value in one line. */
export function messageOf(error: unknown): string {
  const { message = '', name = '' } = (error ?? {}) as { message?: string; name?: string };
  // A connection refused by several addresses is an AggregateError with an empty message.
  const text = String(message || codeOf(error) || name || error);
  const lines = text.split('\n').map((line) => line.trim());
  return lines.filter(Boolean).join(' ');
}

/**
 * Turns a thrown value into an EmbeddedPostgresError.
 *
 * @param doing the failed action, e.g. 'start PostgreSQL in /x/.data'
 * @param folder the path of the data folder
 */
export function asEmbeddedPostgresError(error: unknown, doing: string, folder = ''): EmbeddedPostgresError {
  // People know the folder by its path, not by the handle of this process.
  const shown = (text: string): string => text.replaceAll(/\/proc\/\d+\/fd\/\d+/g, folder);
  if (error instanceof EmbeddedPostgresError) {
    return new EmbeddedPostgresError(shown(error.message), { cause: error.cause });
  }
  const reason = REASONS[codeOf(error) ?? ''];
  const path = (error as { path?: unknown } | null)?.path;
  const place = typeof path === 'string' ? ` (${shown(path)})` : '';
  return new EmbeddedPostgresError(`cannot ${doing}: ${reason ? reason + place : shown(messageOf(error))}`, {
    cause: error,
  });
}
