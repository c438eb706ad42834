import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { EnvironmentError } from '../../src/settings/environment';
import { type AllSettings, readSettings } from '../../src/all-settings';
import { useFolder } from '../support/files';

const ORIGINS = ['https://a.example', 'http://b.example:8080'];
const APPS = ['capacitor://localhost', 'ionic://localhost', 'tauri://localhost:1420', 'http://[::1]:8080'];
const KEY = Buffer.alloc(32, 7);
const keyOf = (bytes: number) => Buffer.alloc(bytes).toString('base64');
const itself = (...texts: string[]): Record<string, unknown> =>
  Object.fromEntries(texts.map((text) => [text, text]));

type Row = [variable: string, setting: keyof AllSettings, absent: unknown, good: object, bad: string];

/** For each variable: its setting, the value if it is absent, accepted texts with their values, and refused texts between bars. */
const TABLE: Row[] = [
  ['HOST', 'host', '127.0.0.1', { '0.0.0.0': '0.0.0.0', ' :: ': '::', '[::1]': '::1' }, ''],
  [
    'PORT',
    'port',
    3000,
    { 0: 0, 65535: 65_535, ' 080 ': 80 },
    '65536|-1|+1|80.5|0x50|1e3|http|8080 8081|Infinity|NaN|١|6000|6667',
  ],
  [
    'DATABASE_URL',
    'databaseUrl',
    undefined,
    {
      ...itself(
        'postgres://me:secret@db/shop',
        'postgres://me:a,b@db/shop',
        'postgresql://db/shop?sslmode=no-verify',
        'postgres://db/shop?statement_timeout=5000&connect_timeout=3',
      ),
      'postgres://u:pw@/shop?host=/sock': 'postgres://u:pw@%2Fsock/shop',
      'postgres://u:pw@/shop?host=127.0.0.1&port=6432': 'postgres://u:pw@127.0.0.1:6432/shop',
      'postgres://u:pw@:6432/shop?host=/a:b': 'postgres://u:pw@%2Fa%3Ab:6432/shop',
      'postgres:///shop?host=/sock&user=u&password=p%40w': 'postgres://u:p%40w@%2Fsock/shop',
      'postgres://u@/shop': 'postgres://u@localhost/shop',
      'postgres://u:a?b#c@db/shop': 'postgres://u:a%3Fb%23c@db/shop',
      'postgres://u@db/my%2bshop%2540': 'postgres://u@db/my+shop%2540',
      'postgres://u@db?dbname=a/b:c@d': 'postgres://u@db/a/b:c@d',
      'postgres://u@[::1]:6432/?dbname=shop&options=-csearch_path%3Dx':
        'postgres://u@[::1]:6432/shop?options=-csearch_path%3Dx',
      'postgresql://db/shop?sslmode=require': 'postgresql://db/shop?sslmode=require&uselibpqcompat=true',
      'postgresql://db/shop?sslmode=verify-full&sslrootcert=system':
        'postgresql://db/shop?sslmode=verify-full&uselibpqcompat=true',
    },
    'postgres://db/shop?schema=x|postgres://db/shop?sslmode=require&channel_binding=require|' +
      'postgres://db/shop?target_session_attrs=primary|postgres://db/shop?sslcrl=/crl|postgres://db/?bogus=hunter2|' +
      'postgres://me@one,two/shop|postgres://me@one:1,two:2/shop|postgres:///shop?host=one,two|' +
      'postgres://db/shop?sslmode=prefer|postgres://db/shop?sslmode=verify-ca|postgres://db/shop?sslmode=require&sslrootcert=/none|' +
      'postgres://db/shop?sslcert=/dev/null|postgres://db/shop?sslkey=/etc|' +
      'postgres://db/shop?statement_timeout=5s|postgres://db/shop?lock_timeout=20|postgres://db/shop?connect_timeout=ten|' +
      'postgres://db/shop?connect_timeout=0|postgres://db/shop?statement_timeout=-1|postgres://db/shop?statement_timeout=1e3|' +
      'mysql://db/shop|db/shop|postgres:db|postgres://me:hunter2@:x|postgres://me:hunter2%zz@db|postgres://me:hunter2@db:99999/x|' +
      'postgres://me:p@hunter2?hunter2@db/shop|postgres://me:12/hunter2@db/shop|postgres://db/shop?password=a&hunter2=b|' +
      'postgres://db/shop?password=a&sslmode=hunter2|postgres://me:a/b?connect_timeout=hunter2@db/shop|postgres://me:p?hunter2%40db/shop',
  ],
  ['DATA_DIR', 'dataDirectory', '.petstore', itself('/var/lib/x'), ''],
  ['DATABASE_POOL', 'databasePool', 10, { 2: 2, 1000: 1_000 }, '0|1|1001|ten|-5'],
  [
    'REDIS_URL',
    'redisUrl',
    undefined,
    {
      'redis://cache:6379/1': 'redis://cache:6379/1',
      'redis://cache/?commandTimeout=500': 'redis://cache/?commandTimeout=500',
      'redis://a/0,redis://b/': 'redis://a/0,redis://b/',
      'rediss://:x@a, rediss://b': 'rediss://:x@a,rediss://b',
    },
    'redis+sentinel://a,b/shop|http://me:hunter2@cache|cache:6379|redis://|redis://a,,redis://b|redis://a,hunter2|redis://:hunter2%@a|' +
      'redis://a/shop|redis://a/1/2|redis://a?commandTimeout=abc|redis://a?commandTimeout=0|redis://a?db=x|redis://a,redis://b/3',
  ],
  ['INSTANCES', 'instances', 1, { 4: 4 }, '0|10001|many'],
  [
    'TRUST_PROXY',
    'trustProxy',
    [],
    { '127.0.0.1, ::1,fd00::/8': ['127.0.0.1', '::1', 'fd00::/8'] },
    ',|true|loopback|*|1|127.0.0.1,x|proxy.example|10.0.0.0/33|0.0.0.0/0|::/0|::1/129|10.0.0.0/8/8|10.0.0/8|10.0.0.0/',
  ],
  [
    'CORS_ORIGINS',
    'corsOrigins',
    ['*'],
    { '*': ['*'], [ORIGINS.join(', ')]: ORIGINS, [APPS.join(', ')]: APPS },
    ',|a.example|https://a.example/|https://a.example/x|https://*.example/|null|HTTPS://a.example|*,https://a.example|' +
      'https://*.shop.example|https://shop.*|https://*|capacitor://*|https://a.example:443|https://a.example:*|https://A.example|' +
      'https://me@a.example|https://a.example?|https://(a|b).example|capacitor:|capacitor://|capacitor://localhost/|file:///',
  ],
  [
    'METRICS_PORT',
    'metrics',
    { host: '127.0.0.1', port: 9464 },
    {
      '9000': { host: '127.0.0.1', port: 9000 },
      '0.0.0.0:9000': { host: '0.0.0.0', port: 9000 },
      off: null,
    },
    '65536|0.0.0.0|:9000|no|-1|0.0.0.0:99999|3000',
  ],
  [
    'LOG_LEVEL',
    'logLevel',
    'info',
    itself('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    'verbose|INFO|30',
  ],
  ['AFTER_SUNSET', 'afterSunset', 'serve', itself('serve', 'gone'), '410|Gone|true'],
  [
    'WEBHOOK_NETWORKS',
    'webhookNetworks',
    [],
    { '10.20.0.0/16, 192.168.7.9,fd00::/8': ['10.20.0.0/16', '192.168.7.9', 'fd00::/8'] },
    ', ,|10.0.0.0/33|10.0.0.0/0|loopback|shop.example|10.0.0.0/8/8|*',
  ],
  [
    'WEBHOOK_KEY',
    'webhookKey',
    undefined,
    { [KEY.toString('base64')]: KEY },
    `${keyOf(31)}|${keyOf(33)}|secret|=`,
  ],
  ['SHUTDOWN_DELAY', 'shutdownDelaySeconds', 0, { 5: 5, 300: 300 }, '301|-1|0.5|5s'],
  ['WORKERS', 'workers', 1, { 4: 4, auto: availableParallelism() }, '0|257|1.5|all'],
  [
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'tracesUrl',
    undefined,
    itself('https://me:secret@collector:4318/otel'),
    'localhost:4318|grpc://collector:4317|http://',
  ],
];

it('The service starts with an empty environment', () => {
  expect(readSettings({})).toEqual(Object.fromEntries(TABLE.map(([, setting, absent]) => [setting, absent])));
});

test.each(TABLE)('%s is absent if empty, and takes what it should', (variable, setting, absent, good) => {
  const values = { '': absent, '  ': absent, ...good };
  for (const [text, value] of Object.entries(values)) {
    expect(readSettings({ [variable]: text })[setting]).toEqual(value);
  }
});

// HOST and DATA_DIR accept any text. The service finds out at its start whether it can use the address and the folder.
test.each(TABLE.filter(([, , , , bad]) => bad !== ''))(
  '%s rejects anything else in one line, and reveals no password',
  (variable, _setting, _absent, _good, bad) => {
    for (const text of [...bad.split('|'), 'x\ny', 'x'.repeat(1_000), '://me:hunter2@db']) {
      const failure = failureOf({ [variable]: text });
      expect(failure).toBeInstanceOf(EnvironmentError);
      expect(failure.message).toMatch(new RegExp(`^${variable} takes [^\\r\\n]+, not "[^\\r\\n]+"\\.$`));
      expect(failure.message.length).toBeLessThan(300);
      if (variable.endsWith('_URL') || variable.startsWith('OTEL')) {
        expect(failure.message).not.toContain('hunter2');
      }
    }
  },
);

const folder = useFolder();
const file = join(folder, 'secret');
const unreadable = /_FILE takes a file that can be read, with text in UTF-8, not/;

it.each([
  ['DATABASE_URL', 'databaseUrl', 'postgres://db/shop', 'postgres://db/shop'],
  ['REDIS_URL', 'redisUrl', 'redis://cache', 'redis://cache'],
  ['WEBHOOK_KEY', 'webhookKey', KEY.toString('base64'), KEY],
] as const)('%s_FILE names a file with the secret', (name, setting, text, value) => {
  writeFileSync(file, `${text}\n`);
  expect(readSettings({ [`${name}_FILE`]: file })[setting]).toEqual(value);
  expect(readSettings({ [`${name}_FILE`]: '', [name]: text })[setting]).toEqual(value);
  expect(failureOf({ [`${name}_FILE`]: file, [name]: text }).message).toMatch(
    `_FILE takes a file only if ${name} is not set`,
  );
  expect(failureOf({ [`${name}_FILE`]: folder }).message).toMatch(unreadable);
  for (const bytes of [' \n', Buffer.from('p\xe4ss', 'latin1'), Buffer.from(text, 'utf16le')]) {
    writeFileSync(file, bytes);
    expect(failureOf({ [`${name}_FILE`]: file }).message).toMatch(unreadable);
  }
  writeFileSync(file, `\ufeff${text}`);
  expect(readSettings({ [`${name}_FILE`]: file })[setting]).toEqual(value);
  writeFileSync(file, 'hunter2');
  for (const given of [file, 'hunter2', '$hunter2', `postgres://me:hunter2${'x'.repeat(99)}@db`]) {
    expect(failureOf({ [`${name}_FILE`]: given }).message).not.toContain('hunter2');
  }
});

it("OpenTelemetry's own variables turn tracing on and off", () => {
  const traces = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };
  expect(readSettings({ ...traces, OTEL_TRACES_EXPORTER: 'otlp' }).tracesUrl).toBeDefined();
  const ofTraces = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector:4318/v1/traces' };
  expect(readSettings(ofTraces).tracesUrl).toBeDefined();
  expect(() => readSettings({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'collector:4318' })).toThrow(
    /^OTEL_EXPORTER_OTLP_TRACES_/,
  );
  for (const off of [{ OTEL_SDK_DISABLED: 'TRUE' }, { OTEL_TRACES_EXPORTER: ' none ' }]) {
    expect(readSettings({ ...traces, ...off }).tracesUrl).toBeUndefined();
  }
});

it('A path is written out, and text is UTF-8', () => {
  for (const path of ['~/store', '$HOME/store']) {
    for (const variable of ['DATA_DIR', 'DATABASE_URL_FILE']) {
      expect(failureOf({ [variable]: path }).message).toMatch(`${variable} takes a plain path`);
    }
  }
  expect(failureOf({ HOST: 'm\ufffdnchen' }).message).toBe('HOST takes text in UTF-8, not "…".');
});

function failureOf(environment: Record<string, string>): Error {
  try {
    readSettings(environment);
  } catch (error) {
    return error as Error;
  }
  throw new Error(`It was taken: ${JSON.stringify(environment)}`);
}
