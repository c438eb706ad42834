import type { ThrottlerStorage } from '@nestjs/throttler';

interface Window {
  hits: number;
  endsAt: number;
  blockedUntil: number;
}

/**
 * The package's own storage keeps a time for each hit and goes through all of them at every request, which one client
 * with a hundred thousand of them would bring to its knees. Whoever has such clients replaces it, as the documentation
 * describes.
 */
export class WindowStorage implements ThrottlerStorage {
  private readonly windows = new Map<string, Window>();

  increment(
    key: string,
    ttl: number,
    limit: number,
    blockDuration: number,
  ): ReturnType<ThrottlerStorage['increment']> {
    const now = Date.now();
    let window = this.windows.get(key);
    if (!window || now >= Math.max(window.endsAt, window.blockedUntil)) {
      window = { hits: 0, endsAt: now + ttl, blockedUntil: 0 };
      this.windows.set(key, window);
    }
    window.hits += 1;
    if (window.hits > limit && window.blockedUntil === 0) {
      window.blockedUntil = now + blockDuration;
    }
    return Promise.resolve({
      totalHits: window.hits,
      timeToExpire: Math.ceil((window.endsAt - now) / 1_000),
      isBlocked: window.blockedUntil > now,
      timeToBlockExpire: Math.max(0, Math.ceil((window.blockedUntil - now) / 1_000)),
    });
  }
}
