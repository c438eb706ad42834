import { COUNTED, call, freshMinute, limitsIn } from '../../support/limits';
import { useService } from '../../support/use-service';

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

describe.each([
  ['without TRUST_PROXY', {}, FIELDS],
  ['with TRUST_PROXY', { trustProxy: ['127.0.0.1'] }, FIELDS.filter((field) => field !== 'X-Forwarded-For')],
])('a forged address %s', (_how, settings, fields) => {
  const service = useService({ settings });
  beforeEach(() => freshMinute(service));

  it.each(fields)('does not get a separate quota: %s', async (field) => {
    const left: number[] = [];
    for (let index = 1; index <= 3; index += 1) {
      left.push(limitsIn(await service.anonymous().with(forged(field, index)).get(COUNTED)).remaining);
    }
    expect(left).toEqual([59, 58, 57]);
  });

  it('does not bypass the limit, even with all headers at once', async () => {
    await call(service.anonymous(), 60);
    const all = Object.assign({}, ...fields.map((field) => forged(field, 9))) as Record<string, string>;
    expect((await service.anonymous().with(all).get(COUNTED)).status).toBe(429);
  });
});
