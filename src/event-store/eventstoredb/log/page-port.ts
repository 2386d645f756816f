import type { MessagePort } from 'node:worker_threads';
import type { RawEvent } from '#event-store/transfer/raw-log.ts';

/** A page of the log as it goes to another thread: its events as they are stored. */
export interface SharedPage {
  readonly after: number;
  readonly position: number;
  readonly stored: ReadonlyArray<RawEvent>;
  readonly isEnd: boolean;
  readonly begunAt: number;
}

/** What goes over a port between the readers of two threads. */
export type PageMessage =
  /** A page at the log's end, for all who follow it there. */
  | { readonly kind: 'page'; readonly page: SharedPage }
  | { readonly kind: 'acknowledged' }
  /** A reader listens at this end. */
  | { readonly kind: 'ready' }
  /** Whether the other reader has, or is reading, what comes after a position. */
  | { readonly kind: 'ask'; readonly number: number; readonly after: number }
  | { readonly kind: 'answer'; readonly number: number; readonly page: SharedPage | null };

/** Pages under way at most: they must not pile up where the other thread is busy. */
const maxUnderWay = 4;

/** Sends pages to a `wakeUpsByPort` in another thread. */
export class PageSender {
  readonly #port: MessagePort;
  readonly #closed = new AbortController();
  #underWay = 0;
  #onAcknowledged: () => void = () => {};

  constructor(port: MessagePort) {
    this.#port = port;
    port.on('message', ({ kind }: PageMessage) => {
      if (kind !== 'acknowledged') return;
      this.#underWay -= 1;
      this.#onAcknowledged();
    });
    port.on('close', () => {
      this.#closed.abort();
      this.#onAcknowledged();
    });
  }

  /** Aborts when either end is closed. */
  get signal(): AbortSignal {
    return this.#closed.signal;
  }

  /** @returns when there is room for another */
  async send(page: SharedPage): Promise<void> {
    if (this.signal.aborted) return;
    this.#underWay += 1;
    this.#port.postMessage({ kind: 'page', page } satisfies PageMessage);
    while (this.#underWay >= maxUnderWay && !this.signal.aborted)
      await new Promise<void>((resolve) => {
        this.#onAcknowledged = resolve;
      });
  }

  close(): void {
    this.#port.close();
    this.#closed.abort();
    this.#onAcknowledged();
  }
}
