import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { EmbeddedServers, postmasterPid } from './embedded-servers';
import { until, within } from './eventually';
import { type Environment, cleanEnvironment, petstoreScript } from './command-line';
import { patient } from './redis-clock';
import { useDatabase } from './test-database';
import { WatchedLog } from './watched-log';

export interface Ending {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface ServeOptions {
  cwd?: string;
  /** True if the process leads a process group of its own, like a command of a shell. */
  group?: boolean;
  /** The beginning of the command line: a program that runs the command after it. */
  within?: string[];
}

/** The service as a process of its own. */
export class ServiceProcess {
  stdout = '';
  stderr = '';
  readonly child: ChildProcess;
  readonly ending: Promise<Ending>;

  constructor(environment: Environment, options: ServeOptions = {}) {
    const { cwd = '/', group = false, within = [] } = options;
    const { REDIS_URL: url } = environment;
    const redis: Environment = url === undefined ? {} : { REDIS_URL: patient(url) };
    const [program, ...args] = [...within, process.execPath, petstoreScript(), 'serve'];
    this.child = spawn(program, args, {
      cwd,
      env: cleanEnvironment({ LOG_LEVEL: 'warn', ...environment, ...redis }),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: group,
    });
    this.child.stdout!.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    this.child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.ending = new Promise((resolve) => {
      this.child.once('close', (code, signal) => resolve({ code, signal }));
    });
  }

  async ready(): Promise<this> {
    const ended = () => this.child.exitCode !== null || this.child.signalCode !== null;
    await until(() => ended() || this.announced !== undefined);
    if (ended()) {
      throw new Error(`the service ended instead of starting: ${this.stderr}${this.stdout}`);
    }
    return this;
  }

  /** Waits until the service counts in Redis, because its first connection may fail on a busy machine. */
  async untilShared(): Promise<void> {
    await until(async () => {
      const answer = await fetch(`${this.url}/health/ready`);
      const { details } = (await answer.json()) as { details: { limits: { degraded: boolean } } };
      return !details.limits.degraded;
    });
  }

  get url(): string {
    return this.announced!.url;
  }

  /** The line of the log that says that the service is ready. */
  get announced(): { url: string; msg: string } | undefined {
    const line = this.log.find((one) => one.includes('"msg":"Pet Store is ready. '));
    return line === undefined ? undefined : (JSON.parse(line) as { url: string; msg: string });
  }

  /** The complete lines of the log. */
  get log(): string[] {
    return this.stdout.split('\n').slice(0, -1);
  }

  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<Ending> {
    this.child.kill(signal);
    return within(`the end of the service after ${signal}`, this.ending);
  }

  /** Sends a request with this key, and its body as JSON. */
  send(key: string, method: string, target: string, body?: object, more?: Environment): Promise<Response> {
    const type: Environment = body ? { 'Content-Type': 'application/json' } : {};
    const headers = { 'X-API-Key': key, ...type, ...more };
    const answer = fetch(`${this.url}${target}`, { method, headers, body: body && JSON.stringify(body) });
    return within(`the answer to ${method} ${target}`, answer);
  }
}

/** A temporary folder, and services that tests start there. */
export class ServiceProcesses extends EmbeddedServers {
  private readonly services: ServiceProcess[] = [];

  /** The environment of a service with an embedded database of its own. */
  embedded(name = 'store'): { DATA_DIR: string } {
    return { DATA_DIR: this.path(name) };
  }

  folder(name: string): string {
    mkdirSync(this.path(name), { recursive: true });
    return this.path(name);
  }

  /** Starts a service without waiting until it is ready. */
  launch(environment: Environment, options?: ServeOptions): ServiceProcess {
    const service = new ServiceProcess(environment, options);
    this.services.push(service);
    return service;
  }

  serve(environment: Environment, options?: ServeOptions): Promise<ServiceProcess> {
    return this.launch(environment, options).ready();
  }

  postmaster(name = 'store'): number | undefined {
    return postmasterPid(this.path(name, 'data'));
  }

  /** Ends all services and removes the folder. If the log of a service has an API key, this rejects. */
  override async clear(): Promise<void> {
    await Promise.all(this.services.map((service) => service.end('SIGKILL')));
    await super.clear();
    const log = new WatchedLog();
    this.services.forEach((service) => service.log.forEach((line) => log.write(line)));
    log.expectNoKeys();
  }
}

/** Services and a database for all tests of the file, which are ended and dropped after them. */
export function useProcesses(template?: string) {
  const processes = new ServiceProcesses();
  afterAll(() => processes.clear());
  return { processes, database: useDatabase(template) };
}
