import { clock, type Timer } from '#shared/clock.ts';

/** Waits, or ends when the signal aborts. Never throws. */
export function delay(milliseconds: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      clock.clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    // The caller may compute a negative time from a deadline that has passed.
    const timer = clock.setTimeout(end, Math.max(0, milliseconds));
    signal?.addEventListener('abort', end);
  });
}

/** A signal that aborts after a time. The timer does not keep the process alive. */
export function abortAfter(milliseconds: number): AbortSignal {
  const controller = new AbortController();
  const abort = () => controller.abort(new DOMException('The time limit has passed', 'TimeoutError'));
  clock.setTimeout(abort, milliseconds).unref();
  return controller.signal;
}

export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

/**
 * Starts work and waits for it until a signal aborts. The work is not cancelled; its late result is ignored.
 * @throws the signal's reason after it has aborted
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

/**
 * Waits for work up to a time limit. A late result is ignored.
 * @param milliseconds the limit; a negative one counts as zero
 * @returns the result, or `late`
 * @throws what the work throws in time
 */
export async function withTimeout<Value, Late>(
  milliseconds: number,
  work: Promise<Value>,
  late: Late,
): Promise<Value | Late> {
  const { promise: expired, resolve } = Promise.withResolvers<Late>();
  const timer = clock.setTimeout(() => resolve(late), Math.max(0, milliseconds));
  try {
    return await Promise.race([work, expired]);
  } finally {
    clock.clearTimeout(timer);
  }
}

const expired = Symbol('expired');

/**
 * Waits as `withTimeout` does, but a late result is an error.
 * @throws what the work throws in time, otherwise the error that `late` returns
 */
export async function withTimeoutError<Value>(
  milliseconds: number,
  work: Promise<Value>,
  late: () => Error,
): Promise<Value> {
  const value = await withTimeout(milliseconds, work, expired);
  if (value === expired) throw late();
  return value;
}

/**
 * Waits for work, but no longer than a limit after a signal has aborted. A late result is ignored.
 * @returns whether the work has ended
 * @throws what the work throws in time
 */
export async function endsInTime(work: Promise<unknown>, signal: AbortSignal, limitMs: number): Promise<boolean> {
  const { promise: expired, resolve } = Promise.withResolvers<boolean>();
  let timer: Timer | null = null;
  const begin = () => {
    timer = clock.setTimeout(() => resolve(false), limitMs);
  };
  if (signal.aborted) begin();
  else signal.addEventListener('abort', begin, { once: true });
  try {
    return await Promise.race([work.then(() => true), expired]);
  } finally {
    signal.removeEventListener('abort', begin);
    clock.clearTimeout(timer);
  }
}
