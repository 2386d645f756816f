/** Waits the given number of milliseconds, or until the signal aborts. Never throws. */
export function delay(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    // The caller may compute a negative time from a deadline that has passed.
    const timer = setTimeout(end, Math.max(0, milliseconds));
    signal.addEventListener('abort', end, { once: true });
  });
}
