import { WalHistory, walPosition } from '../../../../libs/database/src/replicas/wal-history';

const START = walPosition('16/B3740000');

it('Positions are numbers of 64 bits', () => {
  expect(walPosition('0/0')).toBe(0n);
  expect(walPosition('16/B374D848')).toBe(0x16b374d848n);
  expect(walPosition('FFFFFFFF/FFFFFFFF')).toBe(2n ** 64n - 1n);
});

it('A standby knows what was committed when the primary was last asked and was no further', () => {
  const history = new WalHistory();
  expect(history.momentOf(START)).toBe(-Infinity);
  history.add(1_000, START);
  history.add(1_250, START + 4_000n);
  history.add(1_500, START + 9_000n);
  expect(history.momentOf(START - 40n)).toBe(-Infinity);
  expect(history.momentOf(START)).toBe(1_000);
  expect(history.momentOf(START + 8_900n)).toBe(1_250);
  expect(history.momentOf(START + 9_000n)).toBe(1_500);
  expect(history.momentOf(START + 20_000n)).toBe(1_500);
});

it('A primary that has nothing to do does not make its standby older', () => {
  const history = new WalHistory();
  for (let at = 0; at <= 120_000; at += 250) {
    history.add(at, START);
  }
  expect(history.momentOf(START)).toBe(120_000);
});

it('The header of a page is no difference, the shortest commit is one', () => {
  const history = new WalHistory();
  history.add(0, START + 24n);
  expect(history.momentOf(START)).toBe(0);
  history.add(250, START + 40n);
  expect(history.momentOf(START)).toBe(0);
});

it('A standby that is always five seconds behind is known to be, one that is a minute behind is not known', () => {
  const history = new WalHistory();
  for (let at = 0; at <= 120_000; at += 250) {
    history.add(at, START + BigInt(at) * 100n);
  }
  expect(history.momentOf(START + 115_000n * 100n)).toBe(115_000);
  expect(history.momentOf(START + 60_000n * 100n)).toBe(-Infinity);
});
