import type { DestinationStream } from 'pino';

/** `KEY` matches a whole API key, and `SECRETS` every text that may contain the secret part of one. */
const KEY = /psk_live_[0-9A-Za-z]{36}/;
const SECRETS = /[0-9A-Za-z]{36,}/g;
const PREFIX_LENGTH = 'psk_live_'.length;

const KEPT_LINES = 1_000;

/**
 * The log of a service under test, on its most detailed level. It searches every line for API keys: for texts in the
 * form of a key, and for the secrets of forbidden keys, even without the prefix.
 */
export class WatchedLog implements DestinationStream {
  private readonly secrets = new Set<string>();
  private readonly leaks: string[] = [];
  private kept: string[] = [];

  /** Adds a key whose secret the log must not contain. */
  forbid(key: string): void {
    this.secrets.add(key.slice(PREFIX_LENGTH));
  }

  write(line: string): void {
    const secrets = line.match(SECRETS) ?? [];
    if (KEY.test(line) || secrets.some((text) => [...this.secrets].some((one) => text.includes(one)))) {
      this.leaks.push(line);
    }
    this.kept.push(line);
    if (this.kept.length > 2 * KEPT_LINES) {
      this.kept = this.kept.slice(-KEPT_LINES);
    }
  }

  /** The newest lines: all, or at least the newest thousand. */
  get lines(): Record<string, unknown>[] {
    return this.kept.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  /** @throws Error with the lines that hold a key */
  expectNoKeys(): void {
    if (this.leaks.length > 0) {
      throw new Error(`The log holds API keys:\n${this.leaks.slice(0, 5).join('')}`);
    }
  }
}
