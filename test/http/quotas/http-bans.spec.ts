import { KeysService } from '../../../src/modules/auth';
import type { ApiClient, ErrorBody } from '../../support/api-client';
import { useService } from '../../support/use-service';
import { COUNTED, HOUR, MINUTE, call, earnBan, limitsIn, standing, statuses } from '../../support/limits';

const service = useService();

/** A client of one request a minute that has used it. */
async function anExhaustedCaller(): Promise<ApiClient> {
  const caller = await service.caller({ perMinute: 1, perDay: 1_000 });
  await caller.get(COUNTED);
  return caller;
}

/** How long the ban that the caller earns lasts, in seconds. */
async function provokeBan(caller: ApiClient): Promise<number> {
  const answer = await earnBan(caller, service);
  expect(answer.body.code).toBe('api_key_banned');
  return limitsIn(answer).retryAfter!;
}

describe('refused requests', () => {
  it('report how many refusals are left before a ban, and how long it would be', async () => {
    const caller = await anExhaustedCaller();
    const answers = await call<ErrorBody>(caller, 2);
    service.clock.advance(1_000);
    answers.push(...(await call<ErrorBody>(caller, 10)));
    const counted = answers.map(
      ({ body }) => /(\d+) more refused requests? before then/.exec(body.message)?.[1],
    );
    expect(counted).toEqual(['11', '11', '10', '9', '8', '7', '6', '5', '4', '3', '2', '1']);
    expect(answers.every(({ body }) => body.message.includes('for 120 seconds'))).toBe(true);
    expect(answers.at(-1)!.body.message).toMatch(/ 1 more refused request before/);
  });

  it('count from one second after the first of their series: what was sent before had no chance to know', async () => {
    const caller = await anExhaustedCaller();
    expect(new Set(await statuses(caller, 30))).toEqual(new Set([429]));
    service.clock.advance(999);
    expect(new Set(await statuses(caller, 30))).toEqual(new Set([429]));
    service.clock.advance(1);
    expect(await statuses(caller, 11)).toEqual([...Array<number>(10).fill(429), 403]);
  });

  it('are forgiven once Retry-After has passed, so that backing off never bans', async () => {
    const caller = await anExhaustedCaller();
    for (let minute = 0; minute < 3; minute += 1) {
      expect(await statuses(caller, 10)).not.toContain(403);
      service.clock.advance(MINUTE);
      expect(await statuses(caller, 1)).toEqual([200]);
    }
  });

  it('count against the key that sent them; another key of the client is refused, but not banned', async () => {
    const { key, client } = await service.issueKey({ perMinute: 1, perDay: 1_000 });
    const { key: second } = await service.app.get(KeysService).issue({ client });
    const [one, other] = [key, second].map((text) => service.anonymous().with({ 'X-API-Key': text }));
    await statuses(one!, 1);
    await earnBan(one!, service);
    const refused = await other!.get<ErrorBody>(COUNTED);
    expect([refused.status, refused.body.message]).toEqual([429, expect.stringMatching(/ 11 more refused/)]);
    service.clock.advance(MINUTE);
    expect([await statuses(one!, 1), await statuses(other!, 1)]).toEqual([[403], [200]]);
  });
});

describe('a ban', () => {
  it('starts at the 11th refused request that counts and lasts 2 minutes; further requests do not extend it', async () => {
    const caller = await anExhaustedCaller();
    expect(await provokeBan(caller)).toBe(120);
    for (const [advance, left] of [
      [30_000, 90],
      [30_001, 60],
      [59_998, 1],
    ] as const) {
      service.clock.advance(advance);
      const answers = await call<ErrorBody>(caller, 15);
      expect(answers.map((answer) => [answer.status, limitsIn(answer).retryAfter])).toEqual(
        Array.from({ length: 15 }, () => [403, left]),
      );
      expect(answers[0]!.body.message).toMatch(`another ${left} seconds because it kept sending requests`);
    }
    service.clock.advance(1);
    expect(await statuses(caller, 1)).toEqual([200]);
  });

  it('uses no quota, even for unknown paths, and has its end as the reset of all windows', async () => {
    const caller = await service.caller({ perMinute: 1, perDay: 50 });
    await statuses(caller, 1);
    await earnBan(caller, service);
    service.clock.advance(MINUTE);
    const answer = await caller.get('/no/such/path');
    expect(answer.status).toBe(403);
    expect(limitsIn(answer)).toMatchObject({
      limit: 50,
      remaining: 0,
      retryAfter: 60,
      reset: service.clock.now() / 1_000 + 60,
      state: '"minute";r=0;t=60, "day";r=0;t=60',
    });
    expect((await standing(caller)).day.remaining).toBe(49);
  });

  it('lasts longer each time: 2 min, 10 min, 1 h, 24 h, 72 h, and 72 h again', async () => {
    const caller = await anExhaustedCaller();
    const seconds: number[] = [];
    for (let level = 0; level < 6; level += 1) {
      seconds.push(await provokeBan(caller));
      service.clock.advance(seconds.at(-1)! * 1_000);
      expect(await statuses(caller, 1)).toEqual([200]);
    }
    expect(seconds).toEqual([120, 600, 3_600, 86_400, 259_200, 259_200]);
  });

  it.each([
    ['keeps its level until a millisecond before a clean day', 24 * HOUR - 1_001, 3_600],
    ['loses one level with each clean day', 24 * HOUR, 600],
    ['is forgotten after as many days as it has levels', 48 * HOUR, 120],
  ])('%s', async (_rule, clean, next) => {
    const caller = await anExhaustedCaller();
    service.clock.advance((await provokeBan(caller)) * 1_000);
    await caller.get(COUNTED);
    service.clock.advance((await provokeBan(caller)) * 1_000 + clean);
    await caller.get(COUNTED);
    expect(await provokeBan(caller)).toBe(next);
  });

  it('is announced in every 429 with its duration', async () => {
    const caller = await anExhaustedCaller();
    service.clock.advance((await provokeBan(caller)) * 1_000);
    const [, refused] = await call<ErrorBody>(caller, 2);
    expect(refused!.body.message).toContain('will ban the key for 600 seconds');
  });

  it('does not affect another client', async () => {
    await provokeBan(await anExhaustedCaller());
    expect(await statuses(await service.caller({ plan: 'free' }), 1)).toEqual([200]);
  });
});
