import { type Api, isAbort } from '#dashboard/page/api/api.ts';
import { toApiError } from '#dashboard/page/api/api-error.ts';
import {
  firstLiveState,
  type LiveEvent,
  type LiveFeedState,
  nextLiveState,
  staleAfterMs,
} from '#dashboard/page/api/live-feed-state.ts';
import type { AuditEntry } from '#dashboard/page/api/records.ts';
import { type ServerSentEvent, ServerSentEventReader } from '#dashboard/page/api/server-sent-event-reader.ts';

/** How often data is read again without a feed. */
export const pollIntervalMs = 5_000;

const firstRetryMs = 1_000;
const maxRetryMs = 30_000;
/** Entries that wait during a pause. Older ones are dropped, because lists are read again after the pause. */
const maxWaiting = 500;

/** Null means that all shown data must be read again. */
export type EntryListener = (entry: AuditEntry | null) => void;

/** Reads `GET /v1/events` and resumes it after an interruption. Without a feed, lists are read again in intervals. */
export class LiveFeedClient {
  readonly #api: Api;
  #state: LiveFeedState = firstLiveState;
  #waiting: AuditEntry[] = [];
  #lastId: string | null = null;
  #readOnly: string | null = null;
  #tries = 0;
  #open: AbortController | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stopped = false;
  readonly #stateListeners = new Set<() => void>();
  readonly #entryListeners = new Set<EntryListener>();

  constructor(api: Api) {
    this.#api = api;
  }

  get state(): LiveFeedState {
    return this.#state;
  }

  /** The service's own words if it is read-only; else null. */
  get readOnly(): string | null {
    return this.#readOnly;
  }

  start(): void {
    void this.#connect();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#open?.abort();
    this.#stateListeners.clear();
    this.#entryListeners.clear();
  }

  pause(): void {
    this.#apply({ type: 'paused' });
  }

  /** Publishes the waiting entries. */
  resume(): void {
    const missed = this.#waiting;
    this.#waiting = [];
    this.#apply({ type: 'resumed' });
    for (const entry of missed) this.#publish(entry);
    this.#publish(null);
  }

  refresh(): void {
    this.#publish(null);
  }

  /** @returns a function that removes the listener */
  onState(listener: () => void): () => void {
    this.#stateListeners.add(listener);
    return () => this.#stateListeners.delete(listener);
  }

  /** @returns a function that removes the listener */
  onEntry(listener: EntryListener): () => void {
    this.#entryListeners.add(listener);
    return () => this.#entryListeners.delete(listener);
  }

  async #connect(): Promise<void> {
    const closing = new AbortController();
    this.#open = closing;
    try {
      const headers: Record<string, string> = { accept: 'text/event-stream' };
      if (this.#lastId !== null) headers['last-event-id'] = this.#lastId;
      const answer = await this.#api.open('/v1/events', { headers, signal: closing.signal });
      const isResumed = this.#lastId !== null;
      this.#tries = 0;
      this.#apply({ type: 'opened', now: Date.now(), catchUpTo: isResumed ? await this.#newestPosition() : null });
      await this.#readAll(answer, closing);
      this.#lose();
    } catch (error) {
      if (this.#stopped) return;
      const { status, code, message } = toApiError(error);
      if (code === 'read-only') this.#readOnly = message;
      if (!isAbort(error) && (status === 404 || status === 403 || code === 'read-only')) this.#poll();
      else if (status !== 401) this.#lose();
    }
  }

  async #readAll(answer: Response, closing: AbortController): Promise<void> {
    if (answer.body === null) return;
    const reader = new ServerSentEventReader();
    const silence = watchSilence(() => closing.abort());
    try {
      for await (const text of answer.body.pipeThrough(new TextDecoderStream()) as unknown as AsyncIterable<string>) {
        silence.heard();
        this.#take(reader.read(text).events);
      }
    } finally {
      silence.end();
    }
  }

  #take(events: ReadonlyArray<ServerSentEvent>): void {
    const now = Date.now();
    this.#apply({ type: 'heard', now });
    for (const { id, data } of events) {
      const entry = JSON.parse(data) as AuditEntry;
      if (id !== null) this.#lastId = id;
      this.#apply({ type: 'entry', now, position: entry.position });
      if (this.#state.paused) this.#waiting = [...this.#waiting, entry].slice(-maxWaiting);
      else this.#publish(entry);
    }
  }

  #lose(): void {
    if (this.#stopped) return;
    const delay = Math.min(maxRetryMs, firstRetryMs * 2 ** this.#tries);
    this.#tries += 1;
    const now = Date.now();
    this.#apply({ type: 'lost', now, retryAt: now + delay });
    this.#timer = setTimeout(() => void this.#connect(), delay);
  }

  /** The service has no feed for this key, so all shown data is read again in intervals. */
  #poll(): void {
    this.#apply({ type: 'unsupported', now: Date.now() });
    this.#timer = setTimeout(() => this.#polled(), pollIntervalMs);
  }

  #polled(): void {
    if (this.#stopped) return;
    if (!this.#state.paused && document.visibilityState === 'visible') this.#publish(null);
    this.#apply({ type: 'polled', now: Date.now() });
    this.#timer = setTimeout(() => this.#polled(), pollIntervalMs);
  }

  async #newestPosition(): Promise<number | null> {
    const { entries } = await this.#api.get<{ entries: ReadonlyArray<AuditEntry> }>('/v1/audit?limit=1');
    return entries[0]?.position ?? null;
  }

  #publish(entry: AuditEntry | null): void {
    for (const listener of [...this.#entryListeners]) listener(entry);
  }

  #apply(event: LiveEvent): void {
    this.#state = nextLiveState(this.#state, event);
    for (const listener of [...this.#stateListeners]) listener();
  }
}

function watchSilence(end: () => void) {
  let timer = setTimeout(end, staleAfterMs);
  return {
    heard: () => {
      clearTimeout(timer);
      timer = setTimeout(end, staleAfterMs);
    },
    end: () => clearTimeout(timer),
  };
}
