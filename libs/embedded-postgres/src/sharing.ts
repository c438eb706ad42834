// Processes that share a folder communicate through empty files. Every file name belongs to one process, so removing
// the file of a dead process never affects a living one, and kill -9 leaves nothing to take over.
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EmbeddedPostgresError } from './errors';
import { isRunning, ownProcess } from './processes';

/** How long to wait for the lock, in milliseconds. */
const PATIENCE = 120_000;

/** Registers this process as a user of the server, by a file that is removed when it leaves. */
export function addHolder(directory: string): string {
  return place(directory, ownName());
}

/** The number of living holders; files of dead ones are removed. */
export function countHolders(directory: string): number {
  return living(directory, '').length;
}

/**
 * Mutual exclusion between processes: Lamport's bakery algorithm with files. Each process draws a number one above the
 * highest, and the living process with the lowest number has the lock. (A plain lock file has a race: if two processes
 * see that its owner died, the second one removes the new lock of the first.)
 *
 * @param directory the folder of the lock, created if missing
 * @param onWait called once if the wait exceeds a second
 * @throws EmbeddedPostgresError if others hold the lock for two minutes
 */
export async function withLock<T>(directory: string, onWait: () => void, work: () => Promise<T>): Promise<T> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const ticket = draw(directory);
  try {
    const begin = Date.now();
    for (let isReported = false; !isMyTurn(directory, ticket); await sleep(10)) {
      const waited = Date.now() - begin;
      if (waited > PATIENCE) {
        throw new EmbeddedPostgresError(
          `another process has been busy with the same data for ${PATIENCE / 1_000} s (${directory}); end it or try again`,
        );
      }
      if (waited > 1_000 && !isReported) {
        isReported = true;
        onWait();
      }
    }
    return await work();
  } finally {
    rmSync(join(directory, ticket), { force: true });
  }
}

/** Takes the next number. While the mark "choosing" exists, no other process may conclude that it is its turn. */
function draw(directory: string): string {
  const me = ownName();
  const choosing = place(directory, `choosing.${me}`);
  try {
    const numbers = living(directory, 'ticket.').map(numberOf);
    const ticket = `ticket.${me}.${Math.max(0, ...numbers) + 1}`;
    place(directory, ticket);
    return ticket;
  } finally {
    unlinkSync(choosing);
  }
}

/**
 * Reads the folder twice, in this order: a process that removed its mark during the first reading already had its
 * ticket, so the second shows it; one that set its mark later saw our ticket and drew a higher number.
 */
function isMyTurn(directory: string, ticket: string): boolean {
  if (living(directory, 'choosing.').length > 0) return false;
  return living(directory, 'ticket.').every((other) => {
    const difference = numberOf(ticket) - numberOf(other);
    return difference === 0 ? ticket <= other : difference < 0;
  });
}

/** The fifth part of `ticket.<pid>.<start>.<random>.<number>`. */
function numberOf(ticket: string): number {
  return Number(ticket.split('.')[4]);
}

function ownName(): string {
  return `${ownProcess()}.${randomBytes(6).toString('hex')}`;
}

function place(directory: string, name: string): string {
  const path = join(directory, name);
  writeFileSync(path, '', { flag: 'wx', mode: 0o600 });
  return path;
}

/** The files `<prefix><pid>.<start>…` of living processes; others are removed. */
function living(directory: string, prefix: string): string[] {
  return readdirSync(directory).filter((name) => {
    if (!name.startsWith(prefix)) return false;
    const [pid, start] = name.slice(prefix.length).split('.');
    if (isRunning(`${pid}.${start}`)) return true;
    rmSync(join(directory, name), { force: true });
    return false;
  });
}
