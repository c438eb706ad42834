// The machines on which `npm run test:anywhere` runs the suite: in what each differs from the usual one.

const AHEAD = new Date();
AHEAD.setUTCMonth(AHEAD.getUTCMonth() + 13);

/** A signal that interrupts a wait finds the time of the machine: libfaketime fakes none within its waits. */
const NO_LOCK_TIMEOUT = {
  'test/http/libs/database/migrations.spec.ts': "PostgreSQL's lock_timeout never ends with libfaketime",
};

const FAST = ['unit', 'http'];
const ALL = [...FAST, 'system'];

/**
 * projects: of jest. time: when the run begins. zone, locale: of every process. clone: the name of a clone to run in. within: a
 * command line that runs the rest of its arguments. user: who runs the suite. node: a major version. leftOut: files that cannot
 * run there, each with its reason. onRequest: runs only if it is named.
 */
export const VARIATIONS = {
  ahead: { what: '13 months ahead', projects: ALL, time: AHEAD, leftOut: NO_LOCK_TIMEOUT },
  east: { what: '14 hours ahead of UTC', projects: ALL, zone: 'Pacific/Kiritimati' },
  west: { what: '11 hours behind UTC', projects: ALL, zone: 'Pacific/Pago_Pago' },
  summer: {
    what: 'summer time begins after a minute',
    projects: FAST,
    zone: 'Europe/Berlin',
    time: new Date('2027-03-28T00:59:00Z'),
    leftOut: NO_LOCK_TIMEOUT,
  },
  winter: {
    what: 'summer time ends after a minute',
    projects: FAST,
    zone: 'Europe/Berlin',
    time: new Date('2027-10-31T00:59:00Z'),
    leftOut: NO_LOCK_TIMEOUT,
  },
  turkish: { what: 'a Turkish locale', projects: ALL, locale: 'tr_TR.UTF-8' },
  c: { what: 'the locale C', projects: ALL, locale: 'C' },
  path: { what: 'a path with a space and an umlaut', projects: ALL, clone: 'the päth' },
  umask: { what: 'umask 077', projects: ALL, within: ['sh', '-c', 'umask 077; exec "$@"', 'sh'] },
  user: { what: 'an ordinary user', projects: ALL, clone: 'user', user: 'nobody' },
  core: { what: 'one core', projects: ALL, within: ['taskset', '-c', '0'] },
  node22: { what: 'Node 22', projects: ALL, node: 22 },
  node24: { what: 'Node 24', projects: ALL, node: 24 },
  elsewhere: {
    what: '13 months and 14 hours ahead, Turkish',
    projects: FAST,
    time: AHEAD,
    leftOut: NO_LOCK_TIMEOUT,
    zone: 'Pacific/Kiritimati',
    locale: 'tr_TR.UTF-8',
    onRequest: true,
  },
};
