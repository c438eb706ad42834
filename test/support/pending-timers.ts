/**
 * How many fake timers of this many milliseconds wait. `jest.getTimerCount()` also counts what other parts of the process
 * scheduled meanwhile.
 */
export function pendingTimers(delay: number): number {
  const { clock } = setTimeout as unknown as { clock: { timers?: Map<number, { delay: number }> } };
  return [...(clock.timers?.values() ?? [])].filter((timer) => timer.delay === delay).length;
}
