import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { RepeatingTask } from '#libs/background';
import { Database, type ExpiredRows } from '#libs/database';
import { QuotaCounters } from '../modules/quotas';
import { VERSION } from '../program';
import type { Settings } from '../settings/settings';
import { withConnection } from './data-source';
import { findEmbedded } from './open-database';

const RENEW_INTERVAL_MS = 5_000;
/** After this many seconds without an update, the state of an instance is `unknown`. */
const RUNNING_SECONDS = 20;
/** After this many seconds without an update, the row of an instance is deleted. */
const UNKNOWN_SECONDS = 3_600;

export const EXPIRED_INSTANCES: ExpiredRows = {
  table: 'instances',
  condition: (now) => `seen_at < '${new Date(now - UNKNOWN_SECONDS * 1_000).toISOString()}'`,
};

/** A process of the service that uses this database. Each such process has a row in the table `instances`. */
export interface Instance {
  version: string;
  host: string;
  pid: number;
  address: string;
  port: number;
  degraded: boolean;
  /** `unknown` if the instance has stopped updating its row but has not deleted the row. */
  state: 'running' | 'unknown';
  secondsAgo: number;
}

const RENEW = `INSERT INTO instances (id, version, host, pid, address, port, degraded) VALUES ($1, $2, $3, $4, $5, $6, $7)
  ON CONFLICT (id) DO UPDATE SET degraded = excluded.degraded, seen_at = now()`;

const INSTANCES = `SELECT version, host, pid, address, port, degraded,
    CASE WHEN age <= ${RUNNING_SECONDS} THEN 'running' ELSE 'unknown' END AS state, age AS "secondsAgo"
  FROM (SELECT *, greatest(0, extract(epoch FROM now() - seen_at))::int AS age FROM instances) AS seen
  WHERE age <= ${UNKNOWN_SECONDS} ORDER BY started_at, id`;

/**
 * Updates a row in the table `instances` while this process serves requests, so that the command line can list the
 * running instances.
 */
@Injectable()
export class Presence implements OnModuleDestroy {
  private readonly id = randomUUID();
  private task: RepeatingTask | undefined;

  constructor(
    private readonly database: Database,
    private readonly quotas: QuotaCounters,
  ) {}

  async begin({ address, port }: Pick<Instance, 'address' | 'port'>): Promise<void> {
    const instance = [this.id, VERSION, hostname(), process.pid, address, port];
    const work = () => this.database.query({ text: RENEW, values: [...instance, this.quotas.countsAlone] });
    this.task = new RepeatingTask({
      name: 'Showing that this instance runs',
      work,
      everyMs: RENEW_INTERVAL_MS,
    });
    await this.task.start().runNow();
  }

  async onModuleDestroy(): Promise<void> {
    if (this.task !== undefined) {
      await this.task.stop();
      await this.database
        .query({ text: 'DELETE FROM instances WHERE id = $1', values: [this.id] })
        .catch(() => undefined);
    }
  }
}

export async function instancesOn(dataSource: DataSource): Promise<Instance[]> {
  const instances = await dataSource.query<Instance[]>(INSTANCES);
  return instances.filter((instance) => instance.state === 'running' || mayRun(instance));
}

/**
 * Returns false if the process ran on this machine and does not exist any more. Otherwise returns true, because this
 * machine cannot know whether a process on another machine has ended.
 */
function mayRun({ host, pid }: Instance): boolean {
  try {
    return host !== hostname() || process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

const LOOKUP_MS = 1_000;

/**
 * Returns the address of a running instance on this machine. If no instance runs here, returns the address of HOST and
 * PORT. Ignores instances that have ended or that run on another machine, because on this machine their address may
 * belong to a foreign server, which would get the API key that commands send to the returned address.
 */
export async function serviceAddress(settings: Settings): Promise<string> {
  const { host, port } = settings;
  const instances = await instancesOf(settings).catch(() => []);
  const here = instances.filter((one) => one.state === 'running' && one.host === hostname() && mayRun(one));
  return addressOf(here.find((one) => one.port === port) ?? here[0] ?? { address: host, port });
}

async function instancesOf(settings: Settings): Promise<Instance[]> {
  const url = settings.databaseUrl ?? findEmbedded(settings)?.url;
  return url === undefined
    ? []
    : withConnection(url, instancesOn, { poolSize: 1, connectTimeoutMs: LOOKUP_MS });
}

function addressOf({ address, port }: Pick<Instance, 'address' | 'port'>): string {
  const reachable = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
