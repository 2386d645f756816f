import { useEffect, useRef, useState } from 'preact/hooks';
import { isAbort } from '#dashboard/page/api/api.ts';
import { type ApiError, toApiError } from '#dashboard/page/api/api-error.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';

/** A value that is read from the API, with the state of reading it. */
export interface Data<Value> {
  /** The last value, even if a later read failed; null before the first answer. */
  readonly value: Value | null;
  /** The error of the last read; null if it succeeded. */
  readonly error: ApiError | null;
  /** When the value was read; null before the first answer. */
  readonly at: number | null;
  /** The first answer is awaited. */
  readonly isLoading: boolean;
  /** There is no value to show after 200 ms. */
  readonly isSlow: boolean;
  readonly reload: () => void;
}

export interface Refresh {
  /** Kinds of resource whose changes matter; default all. An empty list is for values that never change. */
  readonly kinds?: ReadonlyArray<string>;
  /** An additional interval in ms, for figures that change without events. */
  readonly everyMs?: number;
}

const slowMs = 200;
/** Changes within this time cause one read. */
const gatherMs = 400;
const minIntervalMs = 2_000;
const retryMs = 8_000;

interface Held<Value> {
  readonly key: string;
  readonly value: Value | null;
  readonly error: ApiError | null;
  readonly at: number | null;
}

/**
 * Reads again when the live feed shows that the value may have changed.
 * @param key without `read`, the address of the value. Null for no value
 * @param read default a GET of the key
 */
export function useData<Value>(
  key: string | null,
  refresh: Refresh = {},
  read?: (signal: AbortSignal) => Promise<Value>,
): Data<Value> {
  const { api, live, seen } = useSession();
  const known = key === null ? null : ((seen.get(key) as Value | undefined) ?? null);
  const [held, setHeld] = useState<Held<Value>>({ key: key ?? '', value: known, error: null, at: null });
  const [readCount, setReadCount] = useState(0);
  const [isLate, setLate] = useState(false);
  const readAt = useRef(0);
  const kinds = refresh.kinds?.join();
  const reload = () => setReadCount((count) => count + 1);

  useEffect(() => {
    if (key === null) return;
    const ending = new AbortController();
    const slow = setTimeout(() => setLate(true), slowMs);
    let retry: ReturnType<typeof setTimeout> | undefined;
    readAt.current = Date.now();
    const reading = read === undefined ? api.get<Value>(key, ending.signal) : read(ending.signal);
    reading
      .then(
        (value) => {
          if (ending.signal.aborted) return;
          seen.set(key, value);
          setHeld({ key, value, error: null, at: Date.now() });
        },
        (error: unknown) => {
          if (ending.signal.aborted || isAbort(error)) return;
          const problem = toApiError(error);
          setHeld((was) => ({ ...(was.key === key ? was : { key, value: known, at: null }), error: problem }));
          if (isWorthRetrying(problem)) retry = setTimeout(reload, (problem.retryAfterSeconds ?? 0) * 1_000 || retryMs);
        },
      )
      .finally(() => {
        clearTimeout(slow);
        if (!ending.signal.aborted) setLate(false);
      });
    return () => {
      ending.abort();
      clearTimeout(slow);
      clearTimeout(retry);
    };
  }, [key, readCount]);

  useEffect(() => {
    if (key === null) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const again = () => {
      timer ??= setTimeout(
        () => {
          timer = undefined;
          reload();
        },
        Math.max(gatherMs, readAt.current + minIntervalMs - Date.now()),
      );
    };
    const wanted = kinds === undefined ? null : new Set(kinds.split(','));
    const stop = live.onEntry((entry) => {
      if (kinds === '') return;
      if (entry === null || wanted === null || wanted.has(entry.resource.kind)) again();
    });
    const interval =
      refresh.everyMs === undefined ? undefined : setInterval(() => !live.state.paused && again(), refresh.everyMs);
    return () => {
      stop();
      clearTimeout(timer);
      clearInterval(interval);
    };
  }, [key, kinds, refresh.everyMs]);

  if (key === null) return { value: null, error: null, at: null, isLoading: false, isSlow: false, reload };
  const shown = held.key === key ? held : { value: known, error: null, at: null };
  const { value, error, at } = shown;
  const isLoading = value === null && error === null;
  return { value, error, at, isLoading, isSlow: isLate && isLoading, reload };
}

function isWorthRetrying({ status }: ApiError): boolean {
  return status === 0 || status === 429 || status >= 500;
}
