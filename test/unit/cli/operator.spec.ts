import { hostname, userInfo } from 'node:os';
import { operator } from '../../../src/cli/command/operator';

const here = `${userInfo().username}@${hostname()}`;

test('the operator is recorded with user and host', () => {
  expect(operator({})).toEqual({ kind: 'cli', name: here });
});

test('the sudo user is recorded in addition to the user, never instead of it', () => {
  expect(operator({ SUDO_USER: 'ann' }).name).toBe(`${here} (sudo by ann)`);
});

test('what cannot be the name of a user is left out', () => {
  for (const SUDO_USER of ['', 'ann) (sudo by bob', 'a\nb', '\u001b[2J', 'x'.repeat(101)]) {
    expect(operator({ SUDO_USER }).name).toBe(here);
  }
});
