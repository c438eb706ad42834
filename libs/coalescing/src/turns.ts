/** Work that has taken so long holds nobody up any more: a connection can fall silent for as long as its timeout. */
const PATIENCE_MS = 100;
/** However many fall silent, no more than these take connections from other work. */
const MAX_UNDER_WAY = 4;

/** Lets one piece of work in at a time, and a further one only when the last has taken more than 100 ms; four in all. */
export class Turns {
  private underWay = 0;
  private taken = false;

  /** @param onChange called when a piece of work has ended or has taken too long, so that another may be let in */
  constructor(private readonly onChange: () => void) {}

  /** True when a piece of work may begin. */
  get free(): boolean {
    return !this.taken && this.underWay < MAX_UNDER_WAY;
  }

  /** True when nothing is under way. */
  get idle(): boolean {
    return this.underWay === 0;
  }

  /** Takes the turn, which has to be free. @param work must not reject */
  async take(work: () => Promise<void>): Promise<void> {
    let holdsTurn = true;
    this.taken = true;
    this.underWay += 1;
    const giveTurnBack = (): void => {
      if (holdsTurn) {
        holdsTurn = false;
        this.taken = false;
      }
    };
    const patience = setTimeout(() => {
      giveTurnBack();
      this.onChange();
    }, PATIENCE_MS);
    await work();
    clearTimeout(patience);
    this.underWay -= 1;
    giveTurnBack();
    this.onChange();
  }
}
