import { execFileSync } from 'node:child_process';
import { petstoreJson } from '../../../support/command-line';
import { ServiceBench, type ServiceProcess } from '../../../support/service-process';
import { type TestDatabase, createTestDatabase } from '../../../support/test-database';

/** So little that a process which keeps anything of an attack runs out of it; without a limit, garbage may stay long. */
const HEAP = '--max-old-space-size=192';

/** A service as a process of its own, so that its memory is its own, and a client that is let in whatever happens. */
export class Victim {
  private constructor(
    readonly service: ServiceProcess,
    readonly key: string,
    private readonly bench: ServiceBench,
    private readonly database: TestDatabase,
  ) {}

  static async start(): Promise<Victim> {
    const database = await createTestDatabase();
    const bench = new ServiceBench();
    const environment = { DATABASE_URL: database.url };
    const settings = { TRUST_PROXY: '127.0.0.1', LOG_LEVEL: 'error', NODE_OPTIONS: HEAP };
    const service = await bench.serve({ ...environment, ...settings });
    const limits = ['--per-minute', '1000000', '--per-day', '10000000'];
    await petstoreJson(
      ['clients', 'create', '--name', 'valid', '--plan', 'enterprise', ...limits],
      environment,
    );
    const { key } = await petstoreJson<{ key: string }>(['keys', 'issue', '--client', 'valid'], environment);
    return new Victim(service, key, bench, database);
  }

  get port(): number {
    return Number(new URL(this.service.url).port);
  }

  /** Resident memory of the process, in megabytes. */
  get memory(): number {
    const { child, stderr } = this.service;
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`The attack has ended the service: ${stderr.slice(-2_000)}`);
    }
    const kilobytes = execFileSync('ps', ['-o', 'rss=', '-p', String(child.pid)]);
    return Math.round(Number(kilobytes.toString()) / 1_024);
  }

  async end(): Promise<void> {
    await this.bench.clear();
    await this.database.drop();
  }
}

/** Prints what was measured, for whoever wants to know: ATTACK_FIGURES=1. */
export function tell(figures: object): void {
  if (process.env.ATTACK_FIGURES) {
    process.stderr.write(`${JSON.stringify({ test: expect.getState().currentTestName, ...figures })}\n`);
  }
}
