import { usableCores } from '../../src/settings';

test.each([
  ['without a limit, all cores', 8, 'max 100000\n', 8],
  ['where nothing is told, all cores', 8, 'max', 8],
  ['no more than the limit allows', 8, '200000 100000\n', 2],
  ['a limit between two numbers is rounded down', 8, '350000 100000\n', 3],
  ['at least one', 8, '50000 100000\n', 1],
  ['no more cores than there are', 2, '800000 100000\n', 2],
  ['what cannot be read limits to one', 4, 'nonsense', 1],
])('%s', (_name, cores, limit, usable) => {
  expect(usableCores(cores, limit)).toBe(usable);
});
