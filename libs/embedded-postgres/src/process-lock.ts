import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedPostgresError } from './errors';
import { isRunning, ownProcess } from './process-identity';

/**
 * Mutual exclusion between processes which share a folder: Lamport's bakery with files. Everyone draws a
 * number one above all those which are out, and the lowest number of a living process has the lock.
 *
 * A plain lock file has a race where it must be taken from a dead owner: two who see it stale remove it one
 * after the other, and the second removes the fresh lock of the first. Here every file name belongs to one
 * process only, so whoever removes the file of a dead process can never hit a living one, and kill -9 at
 * any point leaves nothing which needs to be taken over.
 *
 * @param directory the folder of the lock, made where it is absent
 * @param patience how long to wait for the lock, in milliseconds
 * @param onWait called once when the wait takes more than a second
 * @throws EmbeddedPostgresError when the lock is not had within the patience
 */
export async function withLock<T>(
  directory: string,
  patience: number,
  onWait: () => void,
  work: () => Promise<T>,
): Promise<T> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const release = await acquire(directory, patience, onWait);
  try {
    return await work();
  } finally {
    release();
  }
}

async function acquire(directory: string, patience: number, onWait: () => void): Promise<() => void> {
  const me = `${ownProcess()}.${randomBytes(6).toString('hex')}`;
  const ticket = draw(directory, me);
  const release = (): void => rmSync(join(directory, ticket), { force: true });
  const begin = Date.now();
  let told = false;
  try {
    while (!isMyTurn(directory, ticket)) {
      const waited = Date.now() - begin;
      if (waited > patience) {
        const seconds = Math.round(patience / 1000);
        throw new EmbeddedPostgresError(
          `another process has been busy with the same data for ${seconds} s (${directory}); end it or try again`,
        );
      }
      if (waited > 1000 && !told) {
        told = true;
        onWait();
      }
      await sleep(10);
    }
  } catch (error) {
    release();
    throw error;
  }
  return release;
}

/** Takes the next number. While the mark "choosing" stands, nobody else may conclude that it is his turn. */
function draw(directory: string, me: string): string {
  const choosing = join(directory, `choosing.${me}`);
  writeFileSync(choosing, '', { flag: 'wx', mode: 0o600 });
  try {
    const numbers = living(directory, 'ticket').map(numberOf);
    const ticket = `ticket.${me}.${Math.max(0, ...numbers) + 1}`;
    writeFileSync(join(directory, ticket), '', { flag: 'wx', mode: 0o600 });
    return ticket;
  } finally {
    unlinkSync(choosing);
  }
}

/**
 * The folder is read twice, and in this order: whoever took his mark away during the first reading had his
 * ticket before, so the second shows it; whoever set his mark later saw our ticket and drew a higher number.
 */
function isMyTurn(directory: string, ticket: string): boolean {
  if (living(directory, 'choosing').length > 0) return false;
  return living(directory, 'ticket').every((other) => other === ticket || isBefore(ticket, other));
}

function isBefore(one: string, other: string): boolean {
  const difference = numberOf(one) - numberOf(other);
  return difference === 0 ? one < other : difference < 0;
}

/** Names are `<kind>.<pid>.<start>.<random>[.<number>]`. */
function numberOf(name: string): number {
  return Number(name.split('.')[4] ?? 0);
}

function living(directory: string, kind: string): string[] {
  return readdirSync(directory).filter((name) => {
    const [itsKind, pid, start] = name.split('.');
    if (itsKind !== kind) return false;
    if (isRunning(`${pid}.${start}`)) return true;
    rmSync(join(directory, name), { force: true });
    return false;
  });
}
