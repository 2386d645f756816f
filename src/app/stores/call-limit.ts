import { clock } from '#shared/clock.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';

export type AnyCall = (...given: unknown[]) => unknown;

/** Ends a call of a port that nobody answers. */
export class CallLimit {
  /** @param what names the port and the call */
  readonly limit: (call: AnyCall, what: string) => AnyCall;

  constructor(limit: CallLimit['limit']) {
    this.limit = limit;
  }
}

/** For a call that does not wait for a store. */
export const immediate = new CallLimit((call) => call);

/** For a call that the adapter ends, because only it knows what a late call has done. */
export const byAdapter = new CallLimit((call) => call);

/** After the time limit the call throws `UnavailableError`. */
export function within(limit: number | ((...given: unknown[]) => number)): CallLimit {
  return new CallLimit((call, what) => (...given) => {
    const result = call(...given);
    if (!(result instanceof Promise)) return result;
    return answerWithin(typeof limit === 'number' ? limit : limit(...given), result, what);
  });
}

/** Aborts the signal in the last parameter of the call. The call then ends without a result. */
export function endsAfter(milliseconds: number): CallLimit {
  return new CallLimit((call) => async (...given) => {
    const signal = given.at(-1) as AbortSignal;
    const ending = new AbortController();
    const end = () => ending.abort();
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const timer = clock.setTimeout(end, milliseconds).unref();
    ending.signal.addEventListener('abort', () => resolve(), { once: true });
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    try {
      await Promise.race([call(...given.slice(0, -1), ending.signal), ended]);
    } finally {
      clock.clearTimeout(timer);
      signal.removeEventListener('abort', end);
    }
  });
}

/**
 * Limits the wait for an answer. Does not keep the process alive. A late answer is ignored.
 * @throws UnavailableError
 */
export function answerWithin<Answer>(milliseconds: number, answer: Promise<Answer>, what: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimeout(() => reject(lateError(milliseconds, what)), milliseconds).unref();
    answer.then(
      (value) => {
        clock.clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clock.clearTimeout(timer);
        reject(error);
      },
    );
  });
}

export function lateError(milliseconds: number, what: string): UnavailableError {
  return new UnavailableError(`${what} was not answered within ${milliseconds / 1_000} s.`);
}
