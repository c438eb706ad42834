import { rateLimitHeaders } from '../../../src/modules/quotas/rules/decision';
import { DAY_MS, type WindowStanding } from '../../../src/modules/quotas/rules/rate-window';

const MIDNIGHT = Date.UTC(2026, 10, 21);
const NOW = MIDNIGHT + DAY_MS - 40_210_500;

function minute(remaining: number, resetAt = NOW + 59_001): WindowStanding {
  return { name: 'minute', limit: 60, remaining, resetAt };
}

function day(remaining: number): WindowStanding {
  return { name: 'day', limit: 1_000, remaining, resetAt: MIDNIGHT + DAY_MS };
}

describe('the rate limit headers', () => {
  it('report both windows in the draft’s headers and the scarcer one in X-RateLimit-*', () => {
    expect(rateLimitHeaders([minute(59), day(999)], NOW, null)).toEqual({
      'X-RateLimit-Limit': '60',
      'X-RateLimit-Remaining': '59',
      'X-RateLimit-Reset': String(Math.ceil((NOW + 59_001) / 1000)),
      'RateLimit-Policy': '"minute";q=60;w=60, "day";q=1000;w=86400',
      RateLimit: '"minute";r=59;t=60, "day";r=999;t=40211',
    });
  });

  it('report only the minute for an address', () => {
    expect(rateLimitHeaders([minute(3)], NOW, null)).toMatchObject({
      'RateLimit-Policy': '"minute";q=60;w=60',
      RateLimit: '"minute";r=3;t=60',
    });
  });

  it('report the day when it has less left, and on a tie', () => {
    const reset = String((MIDNIGHT + DAY_MS) / 1000);
    for (const remaining of [4, 5]) {
      expect(rateLimitHeaders([minute(5), day(remaining)], NOW, null)).toMatchObject({
        'X-RateLimit-Limit': '1000',
        'X-RateLimit-Remaining': String(remaining),
        'X-RateLimit-Reset': reset,
      });
    }
  });

  it('report the exhausted window on a refusal, although both are at zero', () => {
    expect(rateLimitHeaders([minute(0), day(0)], NOW, 'minute')['X-RateLimit-Limit']).toBe('60');
    expect(rateLimitHeaders([minute(0), day(0)], NOW, 'day')['X-RateLimit-Limit']).toBe('1000');
  });

  it('round the reset time up, and keep a whole second', () => {
    const whole = 1_795_222_800_000;
    expect(rateLimitHeaders([minute(1, whole)], whole - 60_000, null)).toMatchObject({
      'X-RateLimit-Reset': '1795222800',
      RateLimit: '"minute";r=1;t=60',
    });
    expect(rateLimitHeaders([minute(1, whole + 1)], whole - 60_000, null)).toMatchObject({
      'X-RateLimit-Reset': '1795222801',
      RateLimit: '"minute";r=1;t=61',
    });
  });
});
