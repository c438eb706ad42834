// The variations in which `npm run test:anywhere` runs the suite, with their differences from the usual machine.

const AHEAD = new Date();
AHEAD.setUTCMonth(AHEAD.getUTCMonth() + 13);

/** Within its waits, libfaketime does not fake the time, so a signal that interrupts a wait finds the real time. */
const NO_LOCK_TIMEOUT = {
  'test/http/libs/database/migrations.spec.ts': "PostgreSQL's lock_timeout never ends with libfaketime",
};

const FAST = ['unit', 'http'];
const ALL = [...FAST, 'system'];

/**
 * projects: those of Jest. time: when the run begins. zone, locale: those of every process. clone: the folder into which the
 * suite is cloned. within: the beginning of a command line, which runs the command after it. user: who runs the suite. node: its major version.
 * leftOut: files that cannot run in the variation, each with its reason. onRequest: true if the variation runs only by its name.
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
