/** Work that takes longer than this no longer holds up the next: a connection can be silent until its timeout. */
const PATIENCE_MS = 100;
/** However many are silent, no more than this many take connections from other work. */
const MAX_UNDER_WAY = 4;

/** Runs a few pieces of work at a time, and one more only when one has taken more than 100 ms; four in all. */
export class Turns {
  private underWay = 0;
  private taken = 0;

  /**
   * @param onChange called when a piece of work has ended or has taken too long, so that another may be let in
   * @param atOnce how many are let in at a time
   * @param most how many may be under way, those that have taken too long included
   */
  constructor(
    private readonly onChange: () => void,
    private readonly atOnce = 1,
    private readonly most = MAX_UNDER_WAY,
  ) {}

  /** True when a piece of work may begin. */
  get free(): boolean {
    return this.taken < this.atOnce && this.underWay < this.most;
  }

  /**
   * Takes a turn, which has to be free.
   * @param work must not reject
   */
  async take(work: () => Promise<void>): Promise<void> {
    let holdsTurn = true;
    this.taken += 1;
    this.underWay += 1;
    const giveTurnBack = (): void => {
      if (holdsTurn) {
        holdsTurn = false;
        this.taken -= 1;
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
