import { setTimeout as sleep } from 'node:timers/promises';

const shortestPauseMs = 2;
const longestPauseMs = 100;
const growth = 1.3;

/**
 * Repeats a call until its result is neither null nor false. The pauses grow, because frequent calls slow a busy
 * service down.
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
