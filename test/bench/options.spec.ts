import { UsageError, readOptions } from './options';
import { contendersOf } from './run-matches';

const read = (options: string) => readOptions(options.split(' ').filter(Boolean));

describe('The options', () => {
  it('select five rounds of everything by default', () => {
    const { pairs, seconds, only, peers } = read('');
    expect([pairs, seconds, only.length, peers]).toEqual([5, 3, 22, ['hand-written', 'conventional-nest']]);
  });

  it('read the duration of a soak in minutes and of other runs in seconds, and a delay with its unit', () => {
    expect(read('--quick --pairs 7')).toMatchObject({ pairs: 7, seconds: 1, warmUpSeconds: 1 });
    expect(read('--only soak --duration 45')).toMatchObject({ soakMinutes: 45, seconds: 3 });
    expect(read('--duration 20')).toMatchObject({ soakMinutes: 10, seconds: 20 });
    expect(read('--delay 1ms')).toMatchObject({ delayMs: 1, connections: 32 });
  });

  it('accept groups of operations', () => {
    const { only } = read('--only reads,fairness');
    expect(only).toEqual(expect.arrayContaining(['get-pet', 'list-orders', 'fairness']));
    expect(only).not.toContain('post-order');
  });

  it.each([
    '--only get-pet,get-dog',
    '--peers nobody',
    '--pairs 0',
    '--duration 1.5',
    '--duration 31',
    '--only soak,get-pet',
    '--only soak --duration 0',
    '--tool ab',
    '--fast',
    '--delay 1s',
    '--connections 0',
    '--service test',
    '--redis --aged',
  ])('reject %s', (options) => {
    expect(() => read(options)).toThrow(UsageError);
  });
});

describe('The contenders', () => {
  it.each([
    ['', ['service', 'hand-written', 'conventional-nest']],
    ['--peers hand-written --before .', ['service', 'hand-written', 'before']],
    ['--redis', ['service-redis', 'service']],
    ['--scale', ['service-large', 'service']],
  ])('with "%s" are %j', (options, expected) => {
    expect(contendersOf(read(options)).map(({ name }) => name)).toEqual(expected);
  });

  it('age only the service, while its peers are at their best', () => {
    const [service, peer] = contendersOf(read('--aged --peers hand-written'));
    expect([service.aged, service.hasManyPets, peer!.aged, peer!.hasManyPets]).toEqual([
      ...[true, undefined],
      ...[undefined, true],
    ]);
  });
});
