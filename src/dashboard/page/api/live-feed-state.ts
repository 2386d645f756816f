import { formatCount } from '#dashboard/page/text/numbers.ts';
import { formatTime } from '#dashboard/page/text/times.ts';

/** Without data for this time, the shown data counts as stale. The feed sends a comment every 15 s. */
export const staleAfterMs = 35_000;

export interface LiveFeedState {
  /** `polling` if the service has no feed or the key may not read it. */
  readonly link: 'connecting' | 'open' | 'lost' | 'polling';
  readonly paused: boolean;
  /** Entries since the pause began. */
  readonly waiting: number;
  /** The position of the newest entry; null before the first. */
  readonly position: number | null;
  /** The feed sends missed entries up to this position; null if it has caught up. */
  readonly catchUpTo: number | null;
  /** Null before the first data. */
  readonly heardAt: number | null;
  /** Null while connected. */
  readonly retryAt: number | null;
}

export type LiveEvent =
  | { readonly type: 'opened'; readonly now: number; readonly catchUpTo: number | null }
  | { readonly type: 'heard'; readonly now: number }
  | { readonly type: 'entry'; readonly now: number; readonly position: number }
  | { readonly type: 'lost'; readonly now: number; readonly retryAt: number }
  | { readonly type: 'unsupported'; readonly now: number }
  | { readonly type: 'polled'; readonly now: number }
  | { readonly type: 'paused' }
  | { readonly type: 'resumed' };

export const firstLiveState: LiveFeedState = {
  link: 'connecting',
  paused: false,
  waiting: 0,
  position: null,
  catchUpTo: null,
  heardAt: null,
  retryAt: null,
};

export function nextLiveState(state: LiveFeedState, event: LiveEvent): LiveFeedState {
  switch (event.type) {
    case 'opened':
      return {
        ...state,
        link: 'open',
        heardAt: event.now,
        retryAt: null,
        catchUpTo: toReach(state.position, event.catchUpTo),
      };
    case 'heard':
      return { ...state, heardAt: event.now };
    case 'entry':
      return {
        ...state,
        heardAt: event.now,
        position: Math.max(state.position ?? 0, event.position),
        catchUpTo: toReach(event.position, state.catchUpTo),
        waiting: state.paused ? state.waiting + 1 : 0,
      };
    case 'lost':
      return { ...state, link: 'lost', retryAt: event.retryAt, catchUpTo: null };
    case 'unsupported':
      return { ...state, link: 'polling', heardAt: event.now, retryAt: null, catchUpTo: null };
    case 'polled':
      return { ...state, heardAt: event.now };
    case 'paused':
      return { ...state, paused: true, waiting: 0 };
    case 'resumed':
      return { ...state, paused: false, waiting: 0 };
  }
}

function toReach(position: number | null, target: number | null): number | null {
  return target !== null && (position ?? 0) < target ? target : null;
}

export function isStale(state: LiveFeedState, now: number): boolean {
  return !state.paused && state.heardAt !== null && now - state.heardAt >= staleAfterMs;
}

/** In the top bar: a status, its word and a detail. */
export interface LiveWords {
  readonly tone: 'ok' | 'run' | 'warn' | 'bad' | 'idle';
  readonly word: string;
  readonly rest: string;
}

/** @param pollMs the interval of reads without a feed */
export function describeLive(state: LiveFeedState, now: number, pollMs: number): LiveWords {
  if (state.paused)
    return { tone: 'idle', word: 'Paused', rest: state.waiting > 0 ? `${formatCount(state.waiting)} waiting` : '' };
  if (isStale(state, now))
    return { tone: 'bad', word: 'Stale', rest: `nothing since ${formatTime(state.heardAt ?? now, now)}` };
  if (state.link === 'polling') return { tone: 'ok', word: 'Polling', rest: `every ${Math.round(pollMs / 1_000)} s` };
  if (state.link === 'lost') return { tone: 'warn', word: 'Reconnecting', rest: retryWords(state, now) };
  if (state.link === 'connecting') return { tone: 'run', word: 'Connecting', rest: '' };
  if (state.catchUpTo !== null)
    return { tone: 'run', word: 'Catching up', rest: `to position ${formatCount(state.catchUpTo)}` };
  return { tone: 'ok', word: 'Live', rest: '' };
}

function retryWords({ retryAt }: LiveFeedState, now: number): string {
  if (retryAt === null || retryAt <= now) return 'now';
  return `next try in ${Math.ceil((retryAt - now) / 1_000)} s`;
}
