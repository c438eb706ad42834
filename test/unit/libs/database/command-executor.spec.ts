import { CommandExecutor, type Database } from '#libs/database';

describe('A command executor', () => {
  afterEach(() => jest.useRealTimers());

  it('starts a second transaction once as many commands wait as the first has, or fifty', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate'] });
    const session = jest.fn(() => new Promise(() => undefined));
    const database = { poolSize: 4, session } as unknown as Database;
    const executor = (): ((count: number) => Promise<number>) => {
      session.mockClear();
      const model = { tables: [], afterCommand: () => undefined };
      const commands = new CommandExecutor(database, model, () => 0);
      return async (count) => {
        for (let number = 0; number < count; number += 1) {
          void commands.execute({ needs: [], decide: () => undefined }, { owner: number });
        }
        await new Promise((resolve) => setImmediate(resolve));
        return session.mock.calls.length;
      };
    };
    const few = executor();
    expect([await few(3), await few(2), await few(1)]).toEqual([1, 1, 2]);
    const many = executor();
    expect([await many(100), await many(49), await many(1)]).toEqual([1, 1, 2]);
  });
});
