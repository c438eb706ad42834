import { Turns } from './turns';

/**
 * Equal reads share an answer. While one is under way, those that come meanwhile share the next one, so that nobody
 * gets what was read before they asked. Reads that differ do not wait for each other, and none waits for one that has
 * taken long: see `Turns`.
 */
export class SharedReads<Key, Value> {
  private readonly lines = new Map<Key, Line<Value>>();

  /** How many different reads wait or are under way. */
  get size(): number {
    return this.lines.size;
  }

  /**
   * @param key equal for reads that would answer the same
   * @param load reads; called once for all who share it, after the last of them has asked
   * @throws whatever the read that is shared throws, to everybody who shares it
   */
  read(key: Key, load: () => Promise<Value>): Promise<Value> {
    const line = this.lines.get(key) ?? this.open(key);
    return line.read(load);
  }

  private open(key: Key): Line<Value> {
    const line = new Line<Value>(() => {
      // Another line may have taken the place of one that has been idle before.
      if (this.lines.get(key) === line) {
        this.lines.delete(key);
      }
    });
    this.lines.set(key, line);
    return line;
  }
}

interface Read<Value> {
  answer: Promise<Value>;
  begin: () => Promise<void>;
}

/** The reads of one key. */
class Line<Value> {
  private next: Read<Value> | null = null;
  private readonly turns = new Turns(() => this.run());

  constructor(private readonly onIdle: () => void) {}

  read(load: () => Promise<Value>): Promise<Value> {
    if (this.next === null) {
      this.next = readOf(load);
      if (this.turns.free) {
        // Requests of the same turn of the event loop are still to come.
        setImmediate(() => this.run());
      }
    }
    return this.next.answer;
  }

  private run(): void {
    const { next } = this;
    if (next !== null && this.turns.free) {
      this.next = null;
      void this.turns.take(next.begin);
    } else if (next === null && this.turns.idle) {
      this.onIdle();
    }
  }
}

function readOf<Value>(load: () => Promise<Value>): Read<Value> {
  let begin!: () => Promise<void>;
  const answer = new Promise<Value>((resolve, reject) => {
    begin = async () => {
      try {
        resolve(await load());
      } catch (error) {
        reject(error as Error);
      }
    };
  });
  return { answer, begin };
}
