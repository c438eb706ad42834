const LIMIT_MS = 8_000;
const PAUSE_MS = 20;

/** Repeats the assertions until they hold, for what happens in real time; fails with the last failure. */
export async function eventually(assertions: () => Promise<void>): Promise<void> {
  const deadline = Date.now() + LIMIT_MS;
  for (;;) {
    try {
      return await assertions();
    } catch (error) {
      if (Date.now() > deadline) {
        throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}
