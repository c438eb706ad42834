import * as fs from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import {
  backUp,
  type EmbeddedPostgres,
  findData,
  restoreBackup,
  startEmbeddedPostgres,
} from '#libs/embedded-postgres';
import { Bench } from '../../../support/embedded-postgres-bench';
import { query } from '../../../support/query';

const bench = new Bench();
const DATABASE = 'shop';
let server: EmbeddedPostgres;
/** A backup of the store, which has one item. */
let whole: Buffer;

beforeAll(async () => {
  server = await startEmbeddedPostgres({ dataDirectory: bench.path('source'), database: DATABASE });
  await query(server.url, 'CREATE TABLE item (id int); INSERT INTO item VALUES (1)');
  whole = await backedUp();
});
afterAll(async () => {
  await server.stop();
  await bench.clear();
});

/** @param onChunk called with the number of each chunk that is written, from 1 */
async function backedUp(onChunk: (count: number) => unknown = () => undefined): Promise<Buffer> {
  const chunks: Buffer[] = [];
  const write = async (chunk: Buffer): Promise<void> => {
    chunks.push(chunk);
    await onChunk(chunks.length);
  };
  await backUp({ url: server.url, madeBy: 'test', write });
  return Buffer.concat(chunks);
}

async function* bytesOf(backup: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < backup.length; at += 65_536) {
    yield await Promise.resolve(backup.subarray(at, at + 65_536));
  }
}

const restore = (backup: Buffer, name: string) =>
  restoreBackup({ dataDirectory: bench.path(name), source: bytesOf(backup) });

/** What a start finds in a folder. */
async function itemsIn(name: string): Promise<number[]> {
  const restored = await startEmbeddedPostgres({ dataDirectory: bench.path(name), database: DATABASE });
  try {
    const rows = await query<{ id: number }>(restored.url, 'SELECT id FROM item ORDER BY id');
    return rows.map(({ id }) => id);
  } finally {
    await restored.stop();
  }
}

const leftOnServer = () =>
  query(
    server.url,
    `SELECT slot_name AS left FROM pg_replication_slots
     UNION SELECT application_name FROM pg_stat_activity WHERE application_name = 'backup'`,
  );

describe('a backup', () => {
  it('contains everything committed before it began, even if the log wraps around meanwhile', async () => {
    await query(server.url, 'INSERT INTO item VALUES (2)');
    const backup = await backedUp(async (count) => {
      if (count > 3) return;
      // Without the slot the log from the beginning would be gone after the second checkpoint.
      await query(server.url, `INSERT INTO item VALUES (${-count})`);
      for (let round = 0; round < 3; round += 1) {
        await query(server.url, 'SELECT pg_switch_wal()');
        await query(server.url, 'CHECKPOINT');
      }
    });
    await restore(backup, 'around');
    expect(await itemsIn('around')).toEqual([-3, -2, -1, 1, 2]);
    await query(server.url, 'DELETE FROM item WHERE id <> 1');
  });

  it('continues while tables are created, dropped and truncated', async () => {
    await query(server.url, 'CREATE TABLE long AS SELECT generate_series(1, 200000) AS id');
    const backup = await backedUp(async (count) => {
      if (count === 1) await query(server.url, 'DELETE FROM long');
      // VACUUM gives the pages at the end of a table back.
      if (count === 2) await query(server.url, 'VACUUM long');
      if (count === 3) await query(server.url, 'DROP TABLE long');
      if (count === 4) await query(server.url, 'CREATE TABLE late AS SELECT 1 AS id');
    });
    await restore(backup, 'changing');
    expect(await itemsIn('changing')).toEqual([1]);
    expect(await leftOnServer()).toEqual([]);
  });

  it('that cannot be written leaves nothing on the server, and fails with the error of the output', async () => {
    const full = new Error('no space left');
    const failing = backedUp((count) => (count === 3 ? Promise.reject(full) : undefined));
    await expect(failing).rejects.toBe(full);
    expect(await leftOnServer()).toEqual([]);
    expect((await backedUp()).length).toBeGreaterThan(0);
  });

  it('that is aborted leaves nothing on the server, and fails with the reason', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const write = () => Promise.resolve(controller.abort(reason));
    const broken = backUp({ url: server.url, madeBy: 'test', write, signal: controller.signal });
    await expect(broken).rejects.toBe(reason);
    expect(await leftOnServer()).toEqual([]);
  });

  it('fails when the server stops during it', async () => {
    const failing = backedUp((count) =>
      count === 1
        ? query(
            server.url,
            `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'backup'`,
          )
        : undefined,
    );
    await expect(failing).rejects.toThrow(/^cannot back up the database: /);
    expect(await leftOnServer()).toEqual([]);
  });
});

describe('an unusable backup changes nothing', () => {
  const flipped = (at: number) => {
    const copy = Buffer.from(whole);
    copy[at]! ^= 0x10;
    return copy;
  };
  /** A flipped bit that matters, there or further on: what describes zeros may describe the same zeros in another way. */
  const flippedFrom = (start: number) => {
    const content = gunzipSync(whole);
    const isHarmless = (archive: Buffer) => {
      try {
        return gunzipSync(archive).equals(content);
      } catch {
        return false;
      }
    };
    let at = start;
    while (isHarmless(flipped(at))) {
      at += 1_009;
    }
    return flipped(at);
  };
  /** The archive with other bytes in it, and checksums of zlib that fit. */
  const edited = (edit: (tar: Buffer) => Buffer) => gzipSync(edit(gunzipSync(whole)), { level: 0 });

  async function tarOf(name: string): Promise<Buffer> {
    const archive = pack();
    archive.entry({ name }, 'x');
    archive.finalize();
    const chunks: Buffer[] = [];
    for await (const chunk of archive) chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  const DAMAGES: [string, () => Buffer | Promise<Buffer>][] = [
    ['empty', () => Buffer.alloc(0)],
    ['not an archive', () => Buffer.from('{"kind":"category","id":1}\n'.repeat(1_000))],
    ['without its last byte', () => whole.subarray(0, -1)],
    ['with a bit flipped in its middle', () => flippedFrom(whole.length >> 1)],
    // In the checksum: what stands before it may be zeros, which another bit may describe as well.
    ['with a bit flipped at its end', () => flipped(whole.length - 6)],
    // zlib finds none of these.
    ['an archive that ends early', () => edited((tar) => tar.subarray(0, tar.length >> 1))],
    [
      'an archive in which a file was changed',
      () =>
        edited((tar) => {
          // The content of a file follows its header of 512 bytes.
          const at = tar.indexOf('data/global/pg_control') + 520;
          tar.writeUInt8(tar[at]! ^ 1, at);
          return tar;
        }),
    ],
    [
      'an archive without a manifest',
      () =>
        edited((tar) => Buffer.concat([tar.subarray(0, tar.indexOf('manifest.json')), Buffer.alloc(1024)])),
    ],
    [
      'an archive whose manifest names another file',
      () => edited((tar) => (tar.write('PG_VERSIOM', tar.lastIndexOf('PG_VERSION')), tar)),
    ],
    ['an archive with a path outside the folder', async () => gzipSync(await tarOf('data/../../outside'))],
    ['an archive with something else in it', async () => gzipSync(await tarOf('secrets.txt'))],
  ];

  it.each(DAMAGES)('%s', async (_what, damaged) => {
    const before = fs.readdirSync(bench.path('around'));
    await expect(restore(await damaged(), 'around')).rejects.toThrow(/backup[^\n]*; nothing was changed$/);
    expect(fs.readdirSync(bench.path('around'))).toEqual(before);
  });

  it('and creates no missing folder', async () => {
    await expect(restore(whole.subarray(0, -1), 'fresh')).rejects.toThrow(/nothing was changed$/);
    expect(fs.existsSync(bench.path('fresh'))).toBe(false);
  });

  it.each([
    ['of another format', '"format":1', '"format":7', /has format 7, and this program reads 1/],
    ['of another PostgreSQL', /"postgres":"\d+/, '"postgres":"99', /made by PostgreSQL 99/],
    ['of another processor', `"architecture":"${process.arch}"`, `"architecture":"m68"`, /made on m68/],
  ])('when it is %s', async (_what, from, to, message) => {
    const changed = edited((tar) => {
      const at = tar.lastIndexOf('{"format"');
      const text = tar.toString('latin1', at);
      const json = text.slice(0, text.indexOf('\0'));
      const replaced = json.replace(from, to).padEnd(json.length);
      return Buffer.concat([tar.subarray(0, at), Buffer.from(replaced), tar.subarray(at + json.length)]);
    });
    await expect(restore(changed, 'fresh')).rejects.toThrow(message);
    expect(fs.existsSync(bench.path('fresh'))).toBe(false);
  });

  it('and all existing data is still there', async () => {
    expect(await itemsIn('around')).toEqual([-3, -2, -1, 1, 2]);
  });
});

describe('a restore', () => {
  it('fails while the database is in use', async () => {
    await expect(restore(whole, 'source')).rejects.toThrow(/another process uses the database/);
    expect(await query(server.url, 'SELECT id FROM item')).toEqual([{ id: 1 }]);
  });

  it('replaces existing data, including the password', async () => {
    await restore(whole, 'around');
    expect(await itemsIn('around')).toEqual([1]);
    const names = fs.readdirSync(bench.path('around'));
    expect(names.filter((name) => /^init|restored|tmp$/.test(name))).toEqual([]);
  });
});

describe('findData', () => {
  it('finds the address of a server, finds nothing where there is none, and creates nothing', () => {
    expect(findData(bench.path('source'), DATABASE)?.url).toBe(server.url);
    expect(findData(bench.path('around'), DATABASE)).toEqual({
      cluster: bench.path('around', 'data'),
      url: undefined,
    });
    expect(findData(bench.path('nowhere', 'at', 'all'), DATABASE)).toBeUndefined();
    expect(fs.existsSync(bench.path('nowhere'))).toBe(false);
    expect(() => findData(__filename, DATABASE)).toThrow(/is a file and not a folder/);
  });
});
