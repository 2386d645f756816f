import { poll } from './poll.ts';

const defaultTimeoutMs = 60_000;

/**
 * Waits until a result is neither null nor false.
 * @param what names what is waited for
 * @returns that result
 * @throws Error at the limit, with what was waited for
 */
export async function eventually<T>(
  ask: () => T | null | false | Promise<T | null | false>,
  what = String(ask),
  timeoutMs = defaultTimeoutMs,
): Promise<T> {
  const result = await poll(ask, timeoutMs);
  if (result === null) throw new Error(`It did not come within ${timeoutMs} ms: ${what}`);
  return result;
}
