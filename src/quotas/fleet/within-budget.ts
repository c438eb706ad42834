/** No answer came in time. */
export class BudgetExceededError extends Error {
  constructor(budgetMs: number) {
    super(`no answer within ${budgetMs} ms`);
  }
}

/**
 * The answer, or a rejection when it takes longer than the budget. An answer that arrived while this process was busy
 * counts as in time: the connection is read once more before it is given up.
 */
export function withinBudget<Answer>(answer: Promise<Answer>, budgetMs: number): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      setImmediate(() => reject(new BudgetExceededError(budgetMs)));
    }, budgetMs);
    answer.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error as Error);
      },
    );
  });
}
