/**
 * Does something, and waits for it until a signal aborts. It goes on then; what it comes to later is nobody's.
 * @throws the signal's reason once that has aborted
 */
export function abortable<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
  if (signal.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    work()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', abort));
  });
}
