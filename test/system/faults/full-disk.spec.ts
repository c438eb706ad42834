import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { query } from '../../support/query';
import { ServiceProcesses, type ServiceProcess } from '../../support/service-process';
import { embeddedUrl } from '../../support/embedded-servers';
import { insertUnlimitedKey } from '../../support/test-database';
import { until } from '../../support/eventually';

/** The size of the disk. An empty store takes half of it. */
const MEBIBYTES = 128;
const DESCRIPTION = 'x'.repeat(2_000);

/**
 * The beginning of a command line that mounts a small file system on a folder. Only the program after it sees this file system,
 * which is removed when the program ends.
 */
function onSmallDisk(folder: string): string[] {
  const mount = `mount -t tmpfs -o size=${MEBIBYTES}m,mode=0755 petstore "$0" && exec "$@"`;
  return ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', mount, folder];
}

/** Skips tests if mounting fails, because only root can mount, and not in every container. */
const [program, ...args] = [...onSmallDisk('/mnt'), 'true'];
const itOnSmallDisk = spawnSync(program!, args).status === 0 ? it : it.skip;

const processes = new ServiceProcesses();
let service: ServiceProcess;
let key: string;

beforeAll(async () => {
  const environment = { DATA_DIR: processes.folder.path('disk', 'store'), LOG_LEVEL: 'info' };
  service = await processes.serve(environment, { launcher: onSmallDisk(processes.folder.make('disk')) });
  key = await insertUnlimitedKey(url());
});
afterAll(() => processes.clear());

/** The path by which other processes reach a file on the disk of the service. */
const onDisk = (name: string) => join(`/proc/${service.child.pid}/root`, processes.folder.path('disk', name));
const url = () => embeddedUrl(onDisk('store'));
const create = () => service.send(key, 'POST', '/categories', { name: 'Full', description: DESCRIPTION });

function fillDisk(): void {
  const ballast = fs.openSync(onDisk('ballast'), 'a');
  // The writes become smaller until not even a page is free.
  for (let size = 1_048_576; size >= 512;) {
    try {
      fs.writeSync(ballast, Buffer.alloc(size));
    } catch {
      size /= 2;
    }
  }
  fs.closeSync(ballast);
}

async function statusOf(target: string): Promise<number> {
  const answer = await service.send(key, 'GET', target);
  await answer.arrayBuffer();
  return answer.status;
}

itOnSmallDisk(
  'On a full disk writes that need space get 503, reads continue, and with space everything works again and nothing is lost; a database that cannot write its log stops, and the service ends with one line (needs root)',
  async () => {
    const acknowledged: number[] = [];
    let refused: Response | undefined;
    const tryToCreate = async () => {
      const answer = await create();
      if (answer.status === 201) acknowledged.push(((await answer.json()) as { id: number }).id);
      else refused = answer;
      return answer.status;
    };
    expect(await tryToCreate()).toBe(201);
    fillDisk();
    await until(async () => (await tryToCreate()) === 503);
    expect(await refused!.json()).toMatchObject({ code: 'service_unavailable', status: 503 });
    expect(refused!.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    for (const target of ['/pets', `/categories/${acknowledged[0]}`, '/health/live', '/health/ready']) {
      expect(await statusOf(target)).toBe(200);
    }
    fs.rmSync(onDisk('ballast'));
    await until(async () => (await tryToCreate()) === 201);
    for (const id of acknowledged) expect(await statusOf(`/categories/${id}`)).toBe(200);
    // Every 500 leaves its reason in the log.
    expect(service.lines.filter((line) => line.includes('internal_error'))).toEqual([]);

    fillDisk();
    // Each statement needs the next file of PostgreSQL's log. On a full disk, only files that exist already can be used.
    const nextFile = `SELECT pg_switch_wal(), pg_logical_emit_message(true, 'fill', 'x')`;
    const address = url();
    await until(async () => {
      await query(address, nextFile).catch(() => undefined);
      return service.child.exitCode !== null;
    });
    expect(await service.ended).toEqual({ code: 1, signal: null });
    expect(service.stderr).toMatch(/^petstore: PostgreSQL does not start in .*No space left on device.*\n$/);
  },
);
