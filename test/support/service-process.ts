import { postmasterPid } from './embedded-servers';
import { until, within } from './eventually';
import { type Environment, cleanEnvironment, petstoreScript } from './command-line';
import { patient } from './redis-clock';
import { SpawnedProcess } from './spawned-process';
import { useDatabase } from './test-database';
import { TestFolder } from './test-folder';
import { WatchedLog } from './watched-log';

export interface ServeOptions {
  cwd?: string;
  /** True if the process leads a process group of its own, like a command of a shell. */
  group?: boolean;
  /** The beginning of the command line: a program that runs the command after it. */
  launcher?: string[];
}

/** The service as a process of its own. */
export class ServiceProcess extends SpawnedProcess {
  constructor(environment: Environment, options: ServeOptions = {}) {
    const { cwd = '/', group = false, launcher = [] } = options;
    const { REDIS_URL: url } = environment;
    const redis: Environment = url === undefined ? {} : { REDIS_URL: patient(url) };
    super([...launcher, process.execPath, petstoreScript(), 'serve'], {
      cwd,
      env: cleanEnvironment({ LOG_LEVEL: 'warn', ...environment, ...redis }),
      detached: group,
    });
  }

  async ready(): Promise<this> {
    await this.printed(() => this.announced);
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
    const line = this.lines.find((one) => one.includes('"msg":"Pet Store is ready. '));
    return line === undefined ? undefined : (JSON.parse(line) as { url: string; msg: string });
  }

  /** Sends a request with this key, and its body as JSON. */
  send(key: string, method: string, target: string, body?: object, more?: Environment): Promise<Response> {
    const type: Environment = body ? { 'Content-Type': 'application/json' } : {};
    const headers = { 'X-API-Key': key, ...type, ...more };
    const answer = fetch(`${this.url}${target}`, { method, headers, body: body && JSON.stringify(body) });
    return within(`the answer to ${method} ${target}`, answer);
  }
}

/** Services that tests start, and a temporary folder for their files. */
export class ServiceProcesses {
  readonly folder = new TestFolder();
  private readonly services: ServiceProcess[] = [];

  /** The environment of a service with an embedded database of its own. */
  embedded(name = 'store'): { DATA_DIR: string } {
    return { DATA_DIR: this.folder.path(name) };
  }

  /** Starts a service without waiting until it is ready. */
  launch(environment: Environment, options?: ServeOptions): ServiceProcess {
    const service = this.folder.add(new ServiceProcess(environment, options));
    this.services.push(service);
    return service;
  }

  serve(environment: Environment, options?: ServeOptions): Promise<ServiceProcess> {
    return this.launch(environment, options).ready();
  }

  postmaster(name = 'store'): number | undefined {
    return postmasterPid(this.folder.path(name, 'data'));
  }

  /** Ends all services and removes the folder. If the log of a service has an API key, this rejects. */
  async clear(): Promise<void> {
    await this.folder.clear();
    const log = new WatchedLog();
    this.services.forEach((service) => service.lines.forEach((line) => log.write(line)));
    log.expectNoKeys();
  }
}

/** Services and a database for all tests of the file, which are ended and dropped after them. */
export function useProcesses(template?: string) {
  const processes = new ServiceProcesses();
  afterAll(() => processes.clear());
  return { processes, database: useDatabase(template) };
}
