import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from './eventually';
import { read } from './files';
import { HAPROXY, findProgram } from './programs';
import { freePort } from './ports';
import { SpawnedProcess } from './spawned-process';
import { TestFolder } from './test-folder';

export const DEPLOYED = 'docker/haproxy/haproxy.cfg';

/** The documented SHUTDOWN_DELAY: for how many seconds an instance serves requests after the signal to stop. */
export function documentedShutdownDelay(): string {
  return /^export REDIS_URL=.*\bSHUTDOWN_DELAY=(\d+)$/m.exec(read('docs/operations/running.md'))![1]!;
}

/** A real haproxy with the deployed configuration, in front of two instances on ports of the test's own. */
export class Haproxy {
  private static readonly running: Haproxy[] = [];

  private constructor(
    private readonly process: SpawnedProcess,
    private readonly folder: TestFolder,
    readonly port: number,
    private readonly metricsPort: number,
  ) {}

  /** @param change of the deployed configuration */
  static async start([one, two]: number[], change = (text: string) => text): Promise<Haproxy> {
    const [port, metricsPort] = [await freePort(), await freePort()];
    const configuration = change(read(DEPLOYED))
      .replace('bind :8080', `bind 127.0.0.1:${port}`)
      .replace('bind :8405', `bind 127.0.0.1:${metricsPort}`)
      .replace('store-one:3000', `127.0.0.1:${one}`)
      .replace('store-two:3000', `127.0.0.1:${two}`);
    const folder = new TestFolder();
    const file = folder.path('haproxy.cfg');
    await writeFile(file, configuration);
    const process = folder.add(new SpawnedProcess([findProgram(HAPROXY)!, '-f', file]));
    const proxy = new Haproxy(process, folder, port, metricsPort);
    Haproxy.running.push(proxy);
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get log(): string {
    return this.process.stdout;
  }

  /** Waits until haproxy sends requests to this instance (UP), or sends none any more (DOWN). */
  async sees(instance: 'one' | 'two', state: 'UP' | 'DOWN'): Promise<void> {
    const labels = `proxy="instances",server="${instance}",state="${state}"`;
    await until(async () => {
      // haproxy checks an instance twice a second; to read all metrics more often would only take processor time.
      await sleep(100);
      const metrics = await fetch(`http://127.0.0.1:${this.metricsPort}/metrics`).catch(() => undefined);
      return (await metrics?.text())?.includes(`haproxy_server_status{${labels}} 1\n`) === true;
    });
  }

  /** Ends all proxies that tests have started. It is called after each test, because a test that failed has not ended its own. */
  static async closeAll(): Promise<void> {
    await Promise.all(Haproxy.running.splice(0).map((proxy) => proxy.folder.clear()));
  }
}
