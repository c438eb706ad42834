import { UsageError, readOptions } from './options';
import { contendersOf } from './run-matches';

describe('The options', () => {
  it('measure five pairs of everything by default', () => {
    const { pairs, seconds, only, peers } = readOptions([]);
    expect({ pairs, seconds, parts: only.length, peers }).toEqual({
      pairs: 5,
      seconds: 3,
      parts: 22,
      peers: ['hand-written', 'conventional-nest'],
    });
  });

  it('let single values override --quick', () => {
    expect(readOptions(['--quick', '--pairs', '7'])).toMatchObject({
      pairs: 7,
      seconds: 1,
      warmUpSeconds: 1,
    });
  });

  it('read the duration of a soak in minutes, and of other runs in seconds', () => {
    expect(readOptions(['--only', 'soak', '--duration', '45'])).toMatchObject({
      soakMinutes: 45,
      seconds: 3,
    });
    expect(readOptions(['--duration', '20'])).toMatchObject({ soakMinutes: 10, seconds: 20 });
  });

  it('accept groups of operations, and a delay with its unit', () => {
    const { only, delayMs, connections } = readOptions(['--only', 'reads,fairness', '--delay', '1ms']);
    expect(only).toEqual(expect.arrayContaining(['get-pet', 'list-orders', 'fairness']));
    expect(only).not.toContain('post-order');
    expect({ delayMs, connections }).toEqual({ delayMs: 1, connections: 32 });
  });

  it.each([
    [['--only', 'get-pet,get-dog']],
    [['--peers', 'nobody']],
    [['--pairs', '0']],
    [['--duration', '1.5']],
    [['--duration', '31']],
    [['--only', 'soak,get-pet']],
    [['--only', 'soak', '--duration', '0']],
    [['--tool', 'ab']],
    [['--fast']],
    [['--delay', '1s']],
    [['--connections', '0']],
    [['--service', 'test']],
    [['--redis', '--aged']],
  ])('reject %j', (args) => {
    expect(() => readOptions(args)).toThrow(UsageError);
  });
});

describe('The contenders', () => {
  const names = (...args: string[]) => contendersOf(readOptions(args)).map(({ name }) => name);

  it.each([
    [[], ['service', 'hand-written', 'conventional-nest']],
    [
      ['--peers', 'hand-written', '--before', '.'],
      ['service', 'hand-written', 'before'],
    ],
    [['--redis'], ['service-redis', 'service']],
    [['--scale'], ['service-large', 'service']],
  ])('with %j are %j', (args, expected) => {
    expect(names(...args)).toEqual(expected);
  });

  it('age only the service; its peers run at their best', () => {
    const contenders = contendersOf(readOptions(['--aged', '--peers', 'hand-written']));
    expect(contenders.map(({ aged, hasManyPets }) => ({ aged, hasManyPets }))).toEqual([
      { aged: true, hasManyPets: undefined },
      { aged: undefined, hasManyPets: true },
    ]);
  });
});
