import { hostname, userInfo } from 'node:os';
import type { Actor } from '../../modules/audit';

/** Rejects forged values of SUDO_USER. */
const USER_NAME = /^[^\s\p{C}]{1,100}$/u;

/**
 * The user who runs this command, according to the operating system. SUDO_USER is added only as a hint, because anybody can
 * set it.
 */
export function operator(environment: Readonly<Record<string, string | undefined>>): Actor {
  const user = `${userName()}@${hostname()}`;
  const behind = environment.SUDO_USER ?? '';
  return { kind: 'cli', name: USER_NAME.test(behind) ? `${user} (sudo by ${behind})` : user };
}

/** In a container the user may have no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.()}`;
  }
}
