import { KeysService } from '../../../src/modules/auth';
import { useService } from '../../support/use-service';
import { COUNTED, MINUTE, call, earnBan, limitsIn, standing, statuses } from '../../support/limits';

interface Usage {
  days: { date: string; requests: number }[];
}

const START = Date.UTC(2026, 10, 21, 9, 30);

const service = useService();
beforeEach(() => service.clock.set(START));

describe('GET /rate-limit', () => {
  it('reports the plan and both windows, before and after requests', async () => {
    const caller = await service.caller({ plan: 'free' });
    expect(await standing(caller)).toEqual({
      plan: 'free',
      minute: { limit: 60, remaining: 60, resetAt: '2026-11-21T09:31:00.000Z' },
      day: { limit: 1_000, remaining: 1_000, resetAt: '2026-11-22T00:00:00.000Z' },
      ban: { banned: false, refusalsBeforeBan: 11, nextBanSeconds: 120 },
    });
    service.clock.advance(10_000);
    await call(caller, 2);
    expect(await standing(caller)).toMatchObject({
      minute: { remaining: 58, resetAt: '2026-11-21T09:31:10.000Z' },
      day: { remaining: 998 },
    });
  });

  it('carries headers that agree with its body', async () => {
    const caller = await service.caller({ plan: 'pro' });
    await call(caller, 3);
    const answer = await caller.get('/rate-limit');
    expect(limitsIn(answer)).toMatchObject({
      limit: 300,
      remaining: 297,
      state: '"minute";r=297;t=60, "day";r=9997;t=52200',
    });
  });

  it('works for an exhausted client, and reports the refusals left before a ban', async () => {
    const caller = await service.caller({ perMinute: 1, perDay: 100 });
    await call(caller, 2);
    service.clock.advance(1_000);
    await call(caller, 3);
    expect(await standing(caller)).toMatchObject({
      minute: { remaining: 0 },
      ban: { banned: false, refusalsBeforeBan: 8, nextBanSeconds: 120 },
    });
  });

  it('works for a banned key, reports the end of the ban, and changes nothing', async () => {
    const caller = await service.caller({ perMinute: 1, perDay: 100 });
    await call(caller, 1);
    await earnBan(caller, service);
    const answers = await statuses(caller, 20, '/rate-limit');
    expect(new Set(answers)).toEqual(new Set([200]));
    const { ban } = await standing(caller);
    expect(ban).toEqual({
      banned: true,
      until: '2026-11-21T09:32:01.000Z',
      refusalsBeforeBan: 11,
      nextBanSeconds: 600,
    });
    service.clock.set(Date.parse(ban.until!) - 1);
    expect(await statuses(caller, 1)).toEqual([403]);
    service.clock.advance(1);
    expect((await standing(caller)).ban).toEqual({
      banned: false,
      refusalsBeforeBan: 11,
      nextBanSeconds: 600,
    });
    expect(await statuses(caller, 1)).toEqual([200]);
  });

  it('needs a valid key, whatever its scopes', async () => {
    expect((await service.anonymous().get('/rate-limit')).status).toBe(401);
    expect((await (await service.caller({ scopes: ['write'] })).get('/rate-limit')).status).toBe(200);
  });

  it.each(['GET', 'HEAD'])('is never counted for a valid key, even if it fails (%s)', async (method) => {
    const caller = await service.caller({ plan: 'free' });
    expect((await caller.send(method, '/rate-limit')).status).toBe(200);
    expect((await caller.send(method, '/rate-limit?nothing=1')).status).toBe(400);
    expect(await standing(caller)).toMatchObject({ minute: { remaining: 60 }, day: { remaining: 1_000 } });
    const writer = await service.caller({ plan: 'free', scopes: ['write'] });
    expect(limitsIn(await writer.send(method, '/rate-limit'))).toMatchObject({ limit: 60, remaining: 60 });
  });
});

describe('all keys of a client', () => {
  it('share its quota', async () => {
    const { key, client } = await service.issueKey({ plan: 'free' });
    const { key: second } = await service.app.get(KeysService).issue({ client });
    const one = service.anonymous().with({ 'X-API-Key': key });
    const other = service.anonymous().with({ Authorization: `Bearer ${second}` });
    await call(one, 30);
    expect(limitsIn(await other.get(COUNTED)).remaining).toBe(29);
    await call(other, 29);
    expect([await statuses(one, 1), await statuses(other, 1)]).toEqual([[429], [429]]);
  });
});

describe('GET /usage', () => {
  it('includes the latest requests and itself, and excludes uncounted ones', async () => {
    const caller = await service.caller({ perMinute: 5, perDay: 100 });
    await call(caller, 4);
    await caller.get('/rate-limit');
    const { body } = await caller.get<Usage>('/usage?days=1');
    expect(body).toEqual({ days: [{ date: '2026-11-21', requests: 5 }] });
    await call(caller, 3);
    service.clock.advance(MINUTE);
    expect((await caller.get<Usage>('/usage?days=1')).body.days[0]!.requests).toBe(6);
  });

  it('lists each UTC day, oldest first, 30 by default', async () => {
    const caller = await service.caller();
    service.clock.set(Date.UTC(2026, 10, 20, 23, 59, 59, 999));
    await call(caller, 2);
    service.clock.advance(1);
    const { days } = (await caller.get<Usage>('/usage')).body;
    expect(days).toHaveLength(30);
    expect([days[0]!.date, days[28], days[29]]).toEqual([
      '2026-10-23',
      { date: '2026-11-20', requests: 2 },
      { date: '2026-11-21', requests: 1 },
    ]);
    expect((await caller.get<Usage>('/usage?days=90')).body.days).toHaveLength(90);
  });

  it.each(['0', '91', '-1', '1.5', 'x', '', '1e1', '%20', '1&days=2'])('rejects days=%s', async (days) => {
    const answer = await (await service.caller()).get<{ code: string }>(`/usage?days=${days}`);
    expect([answer.status, answer.body.code]).toEqual([400, 'validation_failed']);
  });

  it('shows a client only its own requests', async () => {
    await call(await service.caller(), 5);
    const { body } = await (await service.caller()).get<Usage>('/usage?days=1');
    expect(body.days[0]!.requests).toBe(1);
  });
});
