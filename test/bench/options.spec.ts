import { matchesOf } from './matches';
import { UsageError, readOptions } from './options';

describe('The options', () => {
  it('take five pairs of everything by default', () => {
    const { pairs, seconds, only, peers } = readOptions([]);
    expect({ pairs, seconds, parts: only.length, peers }).toEqual({
      pairs: 5,
      seconds: 5,
      parts: 9,
      peers: ['hand-written', 'conventional-nest', 'bare-node'],
    });
  });

  it('let single values stand beside --quick', () => {
    expect(readOptions(['--quick', '--pairs', '7'])).toMatchObject({
      pairs: 7,
      seconds: 1,
      warmUpSeconds: 1,
    });
  });

  it('take the duration of a soak in minutes, and those of the other runs in seconds', () => {
    expect(readOptions(['--only', 'soak', '--duration', '45'])).toMatchObject({
      soakMinutes: 45,
      seconds: 5,
    });
    expect(readOptions(['--duration', '20'])).toMatchObject({ soakMinutes: 10, seconds: 20 });
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
  ])('refuse %j', (args) => {
    expect(() => readOptions(args)).toThrow(UsageError);
  });
});

describe('The matches', () => {
  const matches = (...args: string[]) => matchesOf(readOptions(args));

  it('set bare Node against fixed JSON only', () => {
    expect(matches('--peers', 'bare-node')).toEqual([
      { subject: 'service', peer: 'bare-node', workloads: ['fixed-json'] },
      { subject: 'service-redis', peer: 'service', workloads: ['get-pet'] },
      {
        subject: 'service-large',
        peer: 'service',
        workloads: ['get-pet', 'list-pets', 'list-pets-deep'],
      },
    ]);
  });

  it('leave out whoever has nothing to do', () => {
    expect(matches('--only', 'get-pet,post-order')).toEqual([
      { subject: 'service', peer: 'hand-written', workloads: ['get-pet', 'post-order'] },
      { subject: 'service', peer: 'conventional-nest', workloads: ['get-pet', 'post-order'] },
    ]);
  });
});
