import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { answers, Bench, type How } from '../../../support/embedded-postgres-bench';
import { type Checkout, makeCheckout, removeLinks } from '../../../support/checkout';

const isRoot = process.getuid?.() === 0;
/** What needs another user, or a folder closed to one, can be set up by root only. */
const asRoot = isRoot ? it : it.skip;
const USER = { uid: 1000, gid: 1000 };

const bench = new Bench();

afterAll(() => bench.clear());

function options(...names: string[]) {
  return {
    dataDirectory: bench.path(...names),
    database: 'shop',
    parameters: { fsync: 'off' },
    sharedDirectory: bench.path('shared'),
  };
}

/** Starts and stops a holder, and fails unless it served in between. */
async function serve(checkout: Checkout, settings: object, how: How = {}): Promise<string[]> {
  const holder = bench.hold(checkout, settings, how);
  const { url, error, lines } = await holder.answer;
  expect(error).toBeUndefined();
  expect(await answers(url)).toBe(true);
  expect(await holder.stop()).toBe(0);
  return lines;
}

describe('the binaries', () => {
  it('get the symlinks that an installation without scripts omits', async () => {
    const checkout = makeCheckout(bench.path('no-links'), 'copied');
    expect(removeLinks(checkout.native)).toBeGreaterThan(0);
    for (const name of fs.readdirSync(join(checkout.native, 'bin'))) {
      fs.chmodSync(join(checkout.native, 'bin', name), 0o644);
    }
    await serve(checkout, options('no-links-data'));
    expect(fs.existsSync(bench.path('shared', 'runtime'))).toBe(false);
  });

  asRoot('are copied beside the data of a user who cannot write the package (needs root)', async () => {
    const checkout = makeCheckout(bench.path('read-only'), 'copied');
    removeLinks(checkout.native);
    const home = bench.path('home');
    fs.mkdirSync(home);
    fs.chownSync(home, USER.uid, USER.gid);
    const settings = { ...options('home', '.data'), sharedDirectory: undefined };
    await serve(checkout, settings, USER);
    await serve(checkout, settings, USER);
    expect(fs.readdirSync(join(home, '.data', 'runtime'))).toHaveLength(1);
    expect(fs.statSync(join(home, '.data')).mode & 0o777).toBe(0o700);
    expect(fs.statSync(join(home, '.data', 'data')).uid).toBe(USER.uid);
    expect(removeLinks(checkout.native)).toBe(0);
    // Root steps into the same folder and leaves it usable for its owner.
    await serve(checkout, { ...settings, sharedDirectory: bench.path('shared') });
    await serve(checkout, settings, USER);
  });
});

describe('as root', () => {
  asRoot('serves a checkout and data below a folder which only root may enter (needs root)', async () => {
    fs.mkdirSync(bench.path('closed'), { mode: 0o700 });
    const checkout = makeCheckout(bench.path('closed', 'checkout'), 'copied');
    const settings = options('closed', 'checkout', '.data');
    const racing = await Promise.all([
      serve(checkout, settings, { env: { TEST_UMASK: '077' } }),
      serve(checkout, { ...options('closed', 'second') }, { env: { TEST_UMASK: '077' } }),
    ]);
    expect(racing.flat().filter((line) => /may not enter .*closed/.test(line))).toHaveLength(2);
    const location = fs.readFileSync(join(settings.dataDirectory, 'location'), 'utf8').trim();
    expect(location.startsWith(bench.path('shared', 'data'))).toBe(true);
    expect(fs.statSync(join(location, 'data')).uid).toBe(65534);
    expect(fs.readdirSync(bench.path('shared', 'runtime'))).toHaveLength(1);
    const again = await serve(checkout, settings);
    expect(again.join()).not.toMatch(/created/);
  });

  asRoot(
    'makes a damaged copy anew, and runs none that somebody could have changed (needs root)',
    async () => {
      const checkout = makeCheckout(bench.path('closed', 'again'), 'copied');
      const runtime = bench.path('shared', 'runtime');
      const program = join(runtime, fs.readdirSync(runtime)[0]!, 'bin', 'postgres');
      const { size } = fs.statSync(program);
      fs.truncateSync(program, size / 2);
      await serve(checkout, options('closed', 'second'));
      expect(fs.statSync(program).size).toBe(size);
      fs.chmodSync(runtime, 0o777);
      const { error } = await bench.hold(checkout, options('closed', 'second')).answer;
      expect(error).toMatch(/runtime must be a folder .* that nobody else may write/);
      fs.chmodSync(runtime, 0o755);
    },
  );

  asRoot('says when relocated data are gone, and makes nothing new in their place (needs root)', async () => {
    const checkout = makeCheckout(bench.path('gone-checkout'));
    fs.mkdirSync(bench.path('gone'), { mode: 0o700 });
    const settings = options('gone', '.data');
    await serve(checkout, settings);
    const location = fs.readFileSync(join(settings.dataDirectory, 'location'), 'utf8').trim();
    fs.rmSync(location, { recursive: true });
    const { error, clear } = await bench.hold(checkout, settings).answer;
    expect(error).toMatch(/are kept in .*, which is gone; restore it, or remove .*location/);
    expect(clear).toBe(true);
  });

  asRoot('takes back data which belong to root after a backup was restored (needs root)', async () => {
    const checkout = makeCheckout(bench.path('restored-checkout'));
    const settings = options('restored');
    await serve(checkout, settings);
    spawnSync('chown', ['-R', '0:0', join(settings.dataDirectory, 'data')]);
    spawnSync('chmod', ['755', join(settings.dataDirectory, 'data')]);
    await serve(checkout, settings);
    expect(fs.statSync(join(settings.dataDirectory, 'data'))).toMatchObject({ uid: 65534, mode: 0o040700 });
  });
});

describe('as root in a container', () => {
  /** What Docker leaves to root; above all not sys_ptrace, by which root sees into processes of others. */
  const DOCKER =
    'chown,dac_override,fowner,fsetid,kill,setgid,setuid,setpcap,net_bind_service,net_raw,sys_chroot,mknod,audit_write,setfcap';
  const limitedTo = (rights: string): string[] => {
    const bounds = rights.split(',').map((right) => `,+${right}`);
    return ['setpriv', `--bounding-set=-all${bounds.join('')}`];
  };
  const hasSetpriv = spawnSync('setpriv', ['--version']).status === 0;
  const inContainer = isRoot && hasSetpriv ? it : it.skip;

  inContainer(
    'adopts and stops the server without the right to look into it (needs root, setpriv)',
    async () => {
      const checkout = makeCheckout(bench.path('container-checkout'));
      const how = { within: limitedTo(DOCKER) };
      const first = bench.hold(checkout, options('container'), how);
      const { url } = await first.answer;
      await first.kill();
      const second = bench.hold(checkout, options('container'), how);
      expect(await second.answer).toMatchObject({ adopted: true, url });
      expect(await second.stop()).toBe(0);
      expect(await answers(url)).toBe(false);
    },
  );

  inContainer('says so when root may not become another user (needs root, setpriv)', async () => {
    const checkout = makeCheckout(bench.path('captive-checkout'));
    for (const rights of ['dac_override,kill', 'dac_override,chown,kill']) {
      const holder = bench.hold(checkout, options('captive'), { within: limitedTo(rights) });
      expect((await holder.answer).error).toMatch(
        /may not act as uid 65534 \(EPERM\); run as an ordinary user/,
      );
    }
  });
});

describe('as an ordinary user', () => {
  asRoot('uses the package where it is, and says what is not permitted (needs root)', async () => {
    const checkout = makeCheckout(bench.path('plain-checkout'));
    const home = bench.path('plain-home');
    fs.mkdirSync(home);
    fs.chownSync(home, USER.uid, USER.gid);
    await serve(checkout, options('plain-home', '.data'), USER);
    expect(fs.existsSync(join(home, '.data', 'runtime'))).toBe(false);
    const { error } = await bench.hold(checkout, options('plain-denied'), USER).answer;
    expect(error).toMatch(/^cannot start PostgreSQL in .*plain-denied: this user may not write there/);
    const closed = await bench.hold(checkout, options('restored'), USER).answer;
    expect(closed.error).toMatch(/this user may not write there/);
  });

  asRoot('says when the disk is full (needs root and mount)', async () => {
    const small = bench.path('small');
    fs.mkdirSync(small);
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=12m,mode=755', 'tmpfs', small]);
    if (mounted.status !== 0) {
      return process.emitWarning('not tested: this system does not let the test mount a tmpfs');
    }
    try {
      const { error } = await bench.hold(
        makeCheckout(bench.path('small-checkout')),
        options('small', '.data'),
      ).answer;
      expect(error).toMatch(/^cannot create a database in .*No space left on device/);
      expect(fs.readdirSync(join(small, '.data')).filter((name) => name.startsWith('init-'))).toEqual([]);
    } finally {
      spawnSync('umount', [small]);
    }
  });
});
