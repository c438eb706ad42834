import { EnvironmentError } from '#libs/config';
import { type Settings, readSettings } from '../../src/settings';

/** What each variable takes, what becomes of it, and what it does not take. */
const TABLE: {
  variable: string;
  setting: keyof Settings;
  absent: unknown;
  good: [text: string, value: unknown][];
  bad: string[];
}[] = [
  {
    variable: 'HOST',
    setting: 'host',
    absent: '127.0.0.1',
    good: [
      ['0.0.0.0', '0.0.0.0'],
      [' :: ', '::'],
    ],
    bad: [],
  },
  {
    variable: 'PORT',
    setting: 'port',
    absent: 3000,
    good: [
      ['0', 0],
      ['8080', 8080],
      ['65535', 65_535],
    ],
    bad: ['65536', '-1', '80.5', '0x50', '1e3', 'http', '8080 8081'],
  },
  ...(['PUBLIC_URL', 'CONTACT_URL'] as const).map((variable) => ({
    variable,
    setting: variable === 'PUBLIC_URL' ? ('publicUrl' as const) : ('contactUrl' as const),
    absent: undefined,
    good: [['https://shop.example/api', 'https://shop.example/api']] as [string, string][],
    bad: ['shop.example', 'mailto:me@shop.example', 'https://'],
  })),
  {
    variable: 'DATABASE_URL',
    setting: 'databaseUrl',
    absent: undefined,
    good: ['postgres://me:secret@db/shop', 'postgresql://db/shop?sslmode=require'].map((url) => [url, url]),
    bad: [
      'mysql://db/shop',
      'db/shop',
      'postgres:db',
      'postgres://me:hunter2@:x',
      'http://me:hunter2@db',
      'postgres://me:hunter2%zz@db/shop',
      'postgres://me:hunter2@db:99999/shop',
    ],
  },
  {
    variable: 'DATA_DIR',
    setting: 'dataDirectory',
    absent: '.petstore',
    good: [['/var/lib/x', '/var/lib/x']],
    bad: [],
  },
  {
    variable: 'DATABASE_POOL',
    setting: 'databasePool',
    absent: 10,
    good: [
      ['2', 2],
      ['1000', 1_000],
    ],
    bad: ['0', '1', '1001', 'ten', '-5'],
  },
  {
    variable: 'REDIS_URL',
    setting: 'redisUrl',
    absent: undefined,
    good: [
      ['redis://cache:6379/1', 'redis://cache:6379/1'],
      ['rediss://:secret@a, rediss://b', 'rediss://:secret@a,rediss://b'],
    ],
    bad: [
      'http://me:hunter2@cache',
      'cache:6379',
      'redis://',
      'redis://a,,redis://b',
      'redis://a,hunter2',
      'redis://:hunter2%@a',
    ],
  },
  {
    variable: 'INSTANCES',
    setting: 'instances',
    absent: 1,
    good: [['4', 4]],
    bad: ['0', '10001', 'many'],
  },
  {
    variable: 'TRUST_PROXY',
    setting: 'trustProxy',
    absent: [],
    good: [
      ['10.0.0.0/8', ['10.0.0.0/8']],
      ['127.0.0.1, ::1,fd00::/8', ['127.0.0.1', '::1', 'fd00::/8']],
      ['loopback,uniquelocal', ['loopback', 'uniquelocal']],
    ],
    bad: [
      'true',
      '*',
      '1',
      'proxy.example',
      '10.0.0.0/33',
      '0.0.0.0/0',
      '::/0',
      '::1/129',
      '10.0.0.0/8/8',
      '10.0.0/8',
      '10.0.0.0/',
    ],
  },
  {
    variable: 'CORS_ORIGINS',
    setting: 'corsOrigins',
    absent: ['*'],
    good: [
      ['*', ['*']],
      ['https://a.example, http://b.example:8080', ['https://a.example', 'http://b.example:8080']],
    ],
    bad: [
      'a.example',
      'https://a.example/',
      'https://a.example/path',
      'https://*.example/',
      'null',
      'HTTPS://a.example',
      '*,https://a.example',
    ],
  },
  {
    variable: 'METRICS_PORT',
    setting: 'metrics',
    absent: { host: '127.0.0.1', port: 9464 },
    good: [
      ['9000', { host: '127.0.0.1', port: 9000 }],
      ['0.0.0.0:9000', { host: '0.0.0.0', port: 9000 }],
      ['off', undefined],
    ],
    bad: ['65536', '0.0.0.0', ':9000', 'no', '-1', '0.0.0.0:99999'],
  },
  {
    variable: 'LOG_LEVEL',
    setting: 'logLevel',
    absent: 'info',
    good: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'].map((level) => [level, level]),
    bad: ['verbose', 'INFO', '30'],
  },
  {
    variable: 'AFTER_SUNSET',
    setting: 'afterSunset',
    absent: 'serve',
    good: [
      ['serve', 'serve'],
      ['gone', 'gone'],
    ],
    bad: ['410', 'Gone', 'true'],
  },
  {
    variable: 'WEBHOOK_NETWORKS',
    setting: 'webhookNetworks',
    absent: [],
    good: [['10.20.0.0/16, 192.168.7.9,fd00::/8', ['10.20.0.0/16', '192.168.7.9', 'fd00::/8']]],
    bad: ['10.0.0.0/33', '10.0.0.0/0', 'loopback', 'shop.example', '10.0.0.0/8/8', '*'],
  },
  {
    variable: 'WEBHOOK_KEY',
    setting: 'webhookKey',
    absent: undefined,
    good: [[Buffer.alloc(32, 7).toString('base64'), Buffer.alloc(32, 7)]],
    bad: [Buffer.alloc(31).toString('base64'), Buffer.alloc(33).toString('base64'), 'secret', '='],
  },
  {
    variable: 'SHUTDOWN_DELAY',
    setting: 'shutdownDelaySeconds',
    absent: 0,
    good: [
      ['5', 5],
      ['300', 300],
    ],
    bad: ['301', '-1', '0.5', '5s'],
  },
  {
    variable: 'WORKERS',
    setting: 'workers',
    absent: 1,
    good: [
      ['4', 4],
      ['auto', 'auto'],
    ],
    bad: ['0', '257', '1.5', 'all'],
  },
  {
    variable: 'PETSTORE_SERVICE_ID',
    setting: 'serviceId',
    absent: undefined,
    good: [['7', 7]],
    bad: ['-1', 'one'],
  },
  {
    variable: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    setting: 'tracesUrl',
    absent: undefined,
    good: [['https://me:secret@collector:4318/otel', 'https://me:secret@collector:4318/otel']],
    bad: ['localhost:4318', 'grpc://collector:4317', 'http://'],
  },
];

it('The service starts with an empty environment', () => {
  expect(readSettings({})).toEqual(Object.fromEntries(TABLE.map(({ setting, absent }) => [setting, absent])));
});

describe.each(TABLE)('$variable', ({ variable, setting, absent, good, bad }) => {
  test.each(['', '  '])('counts as absent when it is empty: "%s"', (text) => {
    expect(readSettings({ [variable]: text })[setting]).toEqual(absent);
  });

  test.each(good)('accepts %s', (text, value) => {
    expect(readSettings({ [variable]: text })[setting]).toEqual(value);
  });

  // HOST and DATA_DIR take any text; whether it can be listened on or written to is found out at the start.
  const refused = bad.length > 0 ? [...bad, 'x\ny', 'x'.repeat(1_000)] : [];
  for (const text of refused) {
    it(`rejects ${JSON.stringify(text).slice(0, 40)}, in one line`, () => {
      const failure = failureOf({ [variable]: text });
      expect(failure).toBeInstanceOf(EnvironmentError);
      expect(failure.message).toMatch(new RegExp(`^${variable} takes .+, not ".+"\\.$`));
      expect(failure.message.length).toBeLessThan(250);
      expect(failure.message).not.toMatch(/[\r\n]/);
    });
  }
});

test.each(['DATABASE_URL', 'REDIS_URL', 'OTEL_EXPORTER_OTLP_ENDPOINT'])(
  'The password in %s is never revealed',
  (variable) => {
    for (const text of ['ftp://me:hunter2@db', 'hunter2', '://me:hunter2@db', 'postgres://me:hunter2@:x']) {
      expect(failureOf({ [variable]: text }).message).not.toContain('hunter2');
    }
  },
);

it('Other variables are ignored', () => {
  expect(readSettings({ PATH: '/bin', PORT_OF_CALL: 'Hamburg' })).toEqual(readSettings({}));
});

function failureOf(environment: Record<string, string>): Error {
  try {
    readSettings(environment);
  } catch (error) {
    return error as Error;
  }
  throw new Error('It was taken.');
}
