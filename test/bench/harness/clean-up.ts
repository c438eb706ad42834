/** What has to be undone, however a run ends; undone in the reverse order. */
export class CleanUp {
  private readonly steps: (() => Promise<unknown>)[] = [];

  add(step: () => Promise<unknown>): void {
    this.steps.push(step);
  }

  /** Goes through every step, also when one of them fails; the first failure is thrown in the end. */
  async run(): Promise<void> {
    const failures: unknown[] = [];
    for (let step = this.steps.pop(); step; step = this.steps.pop()) {
      await step().catch((error: unknown) => failures.push(error));
    }
    if (failures.length > 0) {
      throw failures[0];
    }
  }
}

/** Runs the work and undoes what it has put into its clean-up, also when it fails. */
export async function withCleanUp<Result>(work: (cleanUp: CleanUp) => Promise<Result>): Promise<Result> {
  const cleanUp = new CleanUp();
  return work(cleanUp).finally(() => cleanUp.run());
}
