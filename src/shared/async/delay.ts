/** Waits, for less when the signal aborts; never throws. */
export function delay(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    // A deadline may have passed already.
    const timer = setTimeout(end, Math.max(0, milliseconds));
    signal.addEventListener('abort', end, { once: true });
  });
}
