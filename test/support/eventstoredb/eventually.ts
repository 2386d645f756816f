import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits until a condition holds.
 * @throws Error when it does not within the time given
 */
export async function eventually(condition: () => boolean | Promise<boolean>, milliseconds = 60_000): Promise<void> {
  const end = performance.now() + milliseconds;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`It did not hold within ${milliseconds} ms: ${condition}`);
    await sleep(5);
  }
}
