import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HAPROXY, findProgram } from './programs';
import { freePort } from './redis-server';
import { until, within } from './eventually';

const WALK = join(__dirname, '../../docs/operations/running.md');

/** The documented fleet: haproxy's configuration, and how long an instance keeps serving when it is told to stop. */
export async function documentedFleet(): Promise<{ configuration: string; shutdownDelay: string }> {
  const text = await readFile(WALK, 'utf8');
  const [, configuration] = /^cat > haproxy\.cfg <<'END'\n(.+?)^END$/ms.exec(text)!;
  const [, shutdownDelay] = /^export REDIS_URL=.*\bSHUTDOWN_DELAY=(\d+)$/m.exec(text)!;
  return { configuration: configuration!, shutdownDelay: shutdownDelay! };
}

/** A real haproxy with the documented configuration, in front of two instances on ports of the test's own. */
export class Haproxy {
  private output = '';

  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
    private readonly port: number,
    private readonly statisticsPort: number,
  ) {
    child.stderr!.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
  }

  static async start(instancePorts: [string, string]): Promise<Haproxy> {
    const { configuration } = await documentedFleet();
    const [port, statisticsPort] = [await freePort(), await freePort()];
    const folder = await mkdtemp(join(tmpdir(), 'petstore-haproxy-'));
    const file = join(folder, 'haproxy.cfg');
    const ports: Record<string, string> = {
      8080: String(port),
      3001: instancePorts[0],
      3002: instancePorts[1],
    };
    const here = configuration.replace(/(?<=127\.0\.0\.1:)\d+/g, (example) => ports[example]!);
    const statistics = `frontend statistics\n  bind 127.0.0.1:${statisticsPort}\n  stats enable\n  stats uri /\n`;
    await writeFile(file, `${here}${statistics}`);
    const child = spawn(findProgram(HAPROXY)!, ['-f', file], { stdio: ['ignore', 'ignore', 'pipe'] });
    return new Haproxy(child, folder, port, statisticsPort);
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Waits until this instance is sent requests, or is sent none any more. */
  async sees(instance: 'one' | 'two', state: 'UP' | 'DOWN'): Promise<void> {
    await until(async () => (await this.stateOf(instance)).startsWith(state)).catch((error: Error) => {
      throw new Error(`haproxy does not see ${instance} ${state}: ${error.message}\n${this.output}`);
    });
  }

  async close(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await within('the end of haproxy', ended);
    await rm(this.folder, { recursive: true, force: true });
  }

  private async stateOf(instance: string): Promise<string> {
    const page = await fetch(`http://127.0.0.1:${this.statisticsPort}/;csv`).then(
      (answer) => answer.text(),
      () => '',
    );
    const [head = '', ...rows] = page.replace(/^# /, '').split('\n');
    const column = head.split(',').indexOf('status');
    const row = rows.map((line) => line.split(',')).find(([, name]) => name === instance);
    return row?.[column] ?? 'unknown';
  }
}
