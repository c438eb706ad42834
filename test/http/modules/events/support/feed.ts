import { type ApiCaller, nextOf } from '../../../../support/api-caller';

export interface Event {
  id: string;
  type: string;
  timestamp: string;
  data: Record<string, unknown>;
}

/** Reads the feed by following its links. `target` is the next page. */
export class Follower {
  readonly events: Event[] = [];

  constructor(public target = '/events') {}

  /** Reads one page. */
  async read(caller: ApiCaller): Promise<Event[]> {
    const page = await caller.get<Event[]>(this.target);
    if (page.status !== 200) {
      throw new Error(`The feed answered ${page.status}: ${page.text}`);
    }
    this.target = nextOf(page)!;
    this.events.push(...page.body);
    return page.body;
  }

  /** Reads pages until one is empty. @returns the new events */
  async readAll(caller: ApiCaller): Promise<Event[]> {
    const known = this.events.length;
    while ((await this.read(caller)).length > 0);
    return this.events.slice(known);
  }
}
