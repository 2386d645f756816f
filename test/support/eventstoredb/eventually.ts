import { poll } from '#test/support/run/poll.ts';

/**
 * Waits until a condition holds.
 * @throws Error when it does not within the time given
 */
export async function eventually(condition: () => boolean | Promise<boolean>, milliseconds = 60_000): Promise<void> {
  if (!(await poll(condition, milliseconds)))
    throw new Error(`It did not hold within ${milliseconds} ms: ${condition}`);
}
