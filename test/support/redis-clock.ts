import type { Cluster, Redis } from 'ioredis';
import type { Clock } from '#libs/clock';

const TIME_OF_REDIS = 'local now = clock';
/** The last argument. Deadlines stay on the clock of Redis. */
const TIME_OF_CLOCK = 'local now = tonumber(table.remove(ARGV))';

type Command = (...args: unknown[]) => unknown;

/** Lets the scripts of this connection read the time from a clock that a test moves. */
export function onClock<Client extends Redis | Cluster>(client: Client, clock: Clock): Client {
  const commands = client as unknown as Record<string, Command>;
  const define = client.defineCommand.bind(client);
  client.defineCommand = (name, { lua = '', ...options }) => {
    if (!lua.includes(TIME_OF_REDIS)) {
      throw new Error(`${name} does not read the time.`);
    }
    define(name, { ...options, lua: lua.replace(TIME_OF_REDIS, TIME_OF_CLOCK) });
    const command = commands[name]!.bind(client);
    commands[name] = (...args) => command(...args, clock.now());
  };
  return client;
}
