import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { beforeTests } from './before-tests';
import { within } from './eventually';
import { freePort } from './ports';

/** A real Redis on a port of its own, which a test may stop, pause and start again. */
export class RedisServer {
  private process: ChildProcess | null = null;

  private constructor(
    readonly port: number,
    private readonly folder: string,
    private readonly moreOptions: string[],
  ) {}

  static async start(moreOptions: string[] = []): Promise<RedisServer> {
    const folder = await mkdtemp(join(tmpdir(), 'petstore-redis-'));
    const server = new RedisServer(await freePort(), folder, moreOptions);
    await server.start();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const options = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.folder];
    const inMemory = ['--save', '', '--appendonly', 'no'];
    const child = spawn('redis-server', [...options, ...inMemory, ...this.moreOptions], { stdio: 'ignore' });
    this.process = child;
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
    this.process?.kill('SIGSTOP');
  }

  resume(): void {
    this.process?.kill('SIGCONT');
  }

  /** Ends the server, whose data is lost. */
  async stop(): Promise<void> {
    const child = this.process;
    this.process = null;
    if (child?.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await within('the end of Redis', once(child, 'exit'));
    }
  }

  async close(): Promise<void> {
    await this.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** A Redis for all tests of the file: started before them, stopped after them. */
export function useRedis(): RedisServer {
  return beforeTests(
    () => RedisServer.start(),
    (redis) => redis.close(),
  );
}
