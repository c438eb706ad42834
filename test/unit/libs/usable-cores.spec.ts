import { usableCores } from '#libs/config';

test.each([
  ['without a limit, all cores', 8, 'max 100000\n', 8],
  ['without any information, all cores', 8, 'max', 8],
  ['no more than the limit allows', 8, '200000 100000\n', 2],
  ['a fractional limit is rounded down', 8, '350000 100000\n', 3],
  ['at least one', 8, '50000 100000\n', 1],
  ['no more cores than the machine has', 2, '800000 100000\n', 2],
  ['an unreadable limit counts as one', 4, 'nonsense', 1],
])('%s', (_name, cores, limit, usable) => {
  expect(usableCores(cores, limit)).toBe(usable);
});
