/** No response within the time budget. */
export class BudgetExceededError extends Error {
  constructor(budgetMs: number) {
    super(`no response within ${budgetMs} ms`);
  }
}

/**
 * Rejects if the response takes longer than the budget. Time in which this process itself was busy does not count: the
 * timer starts when the request has been sent, and pending input is read once more before giving up.
 * @param onLate called with a response that arrives after the timeout
 */
export function withinBudget<Answer>(
  answer: Promise<Answer>,
  budgetMs: number,
  onLate?: (answer: Answer) => void,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const giveUp = (): void => {
      isLate = true;
      reject(new BudgetExceededError(budgetMs));
    };
    let timer: NodeJS.Timeout | undefined;
    const sent = setImmediate(() => {
      timer = setTimeout(() => setImmediate(giveUp), budgetMs);
    });
    const stop = (): void => {
      clearImmediate(sent);
      clearTimeout(timer);
    };
    answer.then(
      (value) => {
        stop();
        if (isLate) {
          onLate?.(value);
        }
        resolve(value);
      },
      (error: unknown) => {
        stop();
        reject(error as Error);
      },
    );
  });
}
