import { Cluster, type Redis } from 'ioredis';
import type { Clock } from '#libs/clock';

const TIME_OF_REDIS = 'local now = time[1] * 1000 + floor(time[2] / 1000)';
/** The last argument. */
const TIME_OF_CLOCK = 'local now = tonumber(table.remove(ARGV))';

type Command = (this: unknown, ...args: unknown[]) => unknown;

/** Lets the scripts of this connection read the time from a clock that a test moves. */
export function onClock<Client extends Redis | Cluster>(client: Client, clock: Clock): Client {
  const commands = client as unknown as Record<string, Command>;
  const define = client.defineCommand.bind(client);
  client.defineCommand = (name, { lua = '', ...options }) => {
    if (!lua.includes(TIME_OF_REDIS)) {
      throw new Error(`${name} does not read the time.`);
    }
    define(name, { ...options, lua: lua.replace(TIME_OF_REDIS, TIME_OF_CLOCK) });
    const command = commands[name]!;
    // ioredis calls it again on the pipeline, with the same arguments.
    commands[name] = function (...args) {
      return command.call(this, ...args, ...(this === client ? [clock.now()] : []));
    };
  };
  return client;
}

/** So long that Redis is away only when a test has it so, and not so long that a test has to wait for it. */
const PATIENT_MS = 2_000;

export function patient<Client extends Redis | Cluster>(client: Client): Client {
  const options = client instanceof Cluster ? client.options.redisOptions : client.options;
  Object.assign(options!, { commandTimeout: PATIENT_MS });
  return client;
}
