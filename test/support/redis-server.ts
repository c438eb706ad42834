import { Redis } from 'ioredis';
import { beforeTests } from './before-tests';
import { within } from './eventually';
import { freePort } from './ports';
import { SpawnedProcess } from './spawned-process';
import { TestFolder } from './test-folder';

/** A real Redis on a port of its own, which a test may stop, pause and start again. */
export class RedisServer {
  private readonly folder = new TestFolder();
  private process?: SpawnedProcess;

  private constructor(
    readonly port: number,
    private readonly moreOptions: string[],
  ) {}

  static async start(moreOptions: string[] = []): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), moreOptions);
    await server.start();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const options = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.folder.root];
    const inMemory = ['--save', '', '--appendonly', 'no'];
    const command = ['redis-server', ...options, ...inMemory, ...this.moreOptions];
    this.process = this.folder.add(new SpawnedProcess(command));
    const redis = new Redis(this.url, { retryStrategy: () => 20, maxRetriesPerRequest: null });
    redis.on('error', () => undefined);
    await within(`Redis at ${this.url}`, redis.ping()).finally(() => redis.disconnect());
  }

  /** Sends a command on a connection of its own. */
  async call(name: string, ...values: (string | number)[]): Promise<unknown> {
    const redis = new Redis(this.url);
    return redis.call(name, ...values).finally(() => redis.disconnect());
  }

  /** Stops the process, so that the server does not answer, but its connections stay. */
  pause(): void {
    this.process?.child.kill('SIGSTOP');
  }

  resume(): void {
    this.process?.child.kill('SIGCONT');
  }

  /** Ends the server, whose data is lost. */
  async stop(): Promise<void> {
    await this.process?.end('SIGKILL');
  }

  close(): Promise<void> {
    return this.folder.clear();
  }
}

/** A Redis for all tests of the file: started before them, stopped after them. */
export function useRedis(): RedisServer {
  return beforeTests(
    () => RedisServer.start(),
    (redis) => redis.close(),
  );
}
