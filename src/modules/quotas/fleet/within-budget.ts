/** No answer came in time. */
export class BudgetExceededError extends Error {
  constructor(budgetMs: number) {
    super(`no answer within ${budgetMs} ms`);
  }
}

/**
 * The answer, or a rejection when it takes longer than the budget. Time in which this process was busy itself does not
 * count: the question is sent when its turn of the event loop is over, and the time runs from then; and the connection
 * is read once more before the answer is given up.
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
