import { hostname, userInfo } from 'node:os';
import type { Actor } from '../modules/audit';

/** What a user's name may be; more than that has been made up. */
const USER_NAME = /^[^\s\p{C}]{1,100}$/u;

/**
 * Who runs this command, as the operating system knows them. Who stands behind `sudo` is told by the environment only,
 * which anybody can set: it comes second, and never in place of the user.
 */
export function operator(environment: Readonly<Record<string, string | undefined>>): Actor {
  const user = `${userName()}@${hostname()}`;
  const behind = environment.SUDO_USER ?? '';
  return { kind: 'cli', name: USER_NAME.test(behind) ? `${user} (sudo by ${behind})` : user };
}

/** A container may run as a user that has a number only. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
}
