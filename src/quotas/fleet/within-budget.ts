/** No answer came in time. */
export class BudgetExceededError extends Error {
  constructor(budgetMs: number) {
    super(`no answer within ${budgetMs} ms`);
  }
}

/**
 * The answer, or a rejection when it takes longer than the budget. An answer that arrived while this process was busy
 * counts as in time: the connection is read once more before it is given up.
 * @param onLate told of an answer that comes after all
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
    const timer = setTimeout(() => setImmediate(giveUp), budgetMs);
    answer.then(
      (value) => {
        clearTimeout(timer);
        if (isLate) {
          onLate?.(value);
        }
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error as Error);
      },
    );
  });
}
