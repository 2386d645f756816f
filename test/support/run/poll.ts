import { setTimeout as sleep } from 'node:timers/promises';

const shortestPauseMs = 2;
const longestPauseMs = 100;
const growth = 1.3;

/**
 * Asks again and again until a result is neither null nor false, soon at first and then less often: whoever asks a busy
 * service all the time keeps it from what it is asked for.
 * @returns that result; null at the limit
 */
export async function poll<T>(ask: () => T | null | false | Promise<T | null | false>, timeoutMs: number) {
  const deadline = performance.now() + timeoutMs;
  for (let pauseMs = shortestPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * growth)) {
    const given = await ask();
    if (given !== null && given !== false) return given;
    if (performance.now() >= deadline) return null;
    await sleep(pauseMs);
  }
}
