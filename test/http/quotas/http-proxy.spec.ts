import { exchange } from '../../support/raw-http';
import { useService } from '../../support/use-service';
import { COUNTED, call, freshMinute, limitsIn } from '../../support/limits';

const service = useService({ settings: { trustProxy: ['127.0.0.1', '10.0.0.0/8'] } });
const stranger = useService({ settings: { trustProxy: ['10.0.0.0/8'] } });
beforeEach(() => freshMinute(service));

/** Header fields in which one proxy or another tells whom it forwards for. */
const FIELDS = [
  'Forwarded',
  'X-Forwarded-For',
  'X-Real-IP',
  'X-Client-IP',
  'True-Client-IP',
  'CF-Connecting-IP',
  'Fastly-Client-IP',
  'X-Cluster-Client-IP',
  'X-Forwarded-Host',
];
const forged = (field: string, index: number) => ({
  [field]: field === 'Forwarded' ? `for=192.0.2.${index};proto=https` : `192.0.2.${index}`,
});

function from(chain: string) {
  return service.anonymous().with({ 'X-Forwarded-For': chain });
}

async function remaining(chain: string): Promise<number> {
  return limitsIn(await from(chain).get(COUNTED)).remaining;
}

describe('behind a trusted proxy', () => {
  it('each address has a limit of its own', async () => {
    await call(from('192.0.2.1'), 60);
    expect((await from('192.0.2.1').get(COUNTED)).status).toBe(429);
    expect((await from('192.0.2.2').get(COUNTED)).status).toBe(401);
  });

  it.each([
    [
      'a forged chain counts as the address that the proxy saw',
      '1.1.1.1, 192.0.2.3',
      '8.8.8.8, 9.9.9.9, 192.0.2.3',
    ],
    [
      'a chain of trusted proxies counts as the address before them',
      '192.0.2.4',
      '6.6.6.6, 192.0.2.4, 10.1.2.3',
    ],
    ['a forged trusted address does not hide the one behind it', '192.0.2.5', '10.9.9.9, 192.0.2.5'],
    ['IPv4-mapped addresses count as IPv4', '192.0.2.6', '::ffff:192.0.2.6'],
    ['addresses of one IPv6 /56 count as one', '2001:db8:0:aa00::1', '2001:db8:0:aaff:1:2:3:4'],
    ['addresses that differ in the port count as one', '192.0.2.7:1024', '192.0.2.7:65535'],
    ['invalid addresses count as one', 'garbage', 'x'.repeat(3_000)],
    ['invalid addresses in a chain count as one', '1.1.1.1, unknown', '2.2.2.2, _hidden'],
    ['an empty chain counts as the proxy', ', ,', ' '],
  ])('%s', async (_rule, one, other) => {
    expect([await remaining(one), await remaining(other)]).toEqual([59, 58]);
  });

  it('neighbouring /56 networks count separately', async () => {
    expect([await remaining('2001:db8:0:aa00::1'), await remaining('2001:db8:0:ab00::1')]).toEqual([59, 59]);
  });

  it('a valid key counts for its client wherever it calls from', async () => {
    const caller = await service.caller({ plan: 'free' });
    const chains = ['192.0.2.8', '192.0.2.9', 'garbage'];
    const left: number[] = [];
    for (const chain of chains) {
      left.push(limitsIn(await caller.with({ 'X-Forwarded-For': chain }).get(COUNTED)).remaining);
    }
    expect(left).toEqual([59, 58, 57]);
  });
});

test('malformed HTTP names no caller: it is limited, but not at the expense of requests with the address of the proxy', async () => {
  const malformed = async () => {
    const { status, headers } = await exchange(service.port, 'garbage\r\n\r\n');
    return [status, headers['x-ratelimit-remaining']];
  };
  expect(await malformed()).toEqual([400, '59']);
  for (let sent = 0; sent < 59; sent += 1) await malformed();
  expect(await malformed()).toEqual([429, '0']);
  expect(limitsIn(await service.anonymous().get(COUNTED)).remaining).toBe(59);
});

describe.each([
  ['without a trusted proxy', stranger, FIELDS],
  ['behind a trusted one', service, FIELDS.filter((field) => field !== 'X-Forwarded-For')],
])('a forged address %s', (_where, where, fields) => {
  it.each(fields)('does not get a separate quota: %s', async (field) => {
    freshMinute(where);
    const left: number[] = [];
    for (const index of [1, 2, 3]) {
      left.push(limitsIn(await where.anonymous().with(forged(field, index)).get(COUNTED)).remaining);
    }
    expect(left).toEqual([59, 58, 57]);
  });
});
