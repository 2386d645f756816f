import type { MessagePort } from 'node:worker_threads';
import type { RawEvent } from '#event-store/transfer/raw-log.ts';
import { withTimeoutError } from '#shared/async/with-timeout.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';

/** A page of the log for another thread, with its events as stored. */
export interface SharedPage {
  readonly after: number;
  readonly position: number;
  readonly stored: ReadonlyArray<RawEvent>;
  readonly isEnd: boolean;
}

/** A message between the readers of two threads. */
export type PageMessage =
  /** A page at the log's end, for the followers there. */
  | { readonly kind: 'page'; readonly page: SharedPage }
  | { readonly kind: 'acknowledged' }
  /** A stream was removed: its events leave the memory of the other thread. */
  | { readonly kind: 'removed'; readonly stream: string }
  | { readonly kind: 'removal-acknowledged' }
  /** A reader listens at this end. */
  | { readonly kind: 'ready' }
  /** Requests the page after a position, if the other reader has it or is reading it. */
  | { readonly kind: 'ask'; readonly number: number; readonly after: number }
  | { readonly kind: 'answer'; readonly number: number; readonly page: SharedPage | null };

/** The most pages on their way, so that they do not accumulate while the other thread is busy. */
const maxUnderWay = 4;

/** How long a removal waits for the other thread. */
const removalAnswerMs = 30_000;

const noAnswer = () => new UnavailableError('A thread that reads the log does not answer.');

/** Sends pages to a `wakeUpsByPort` in another thread. */
export class PageSender {
  readonly #port: MessagePort;
  readonly #closed = new AbortController();
  /** The removals that the other thread has not acknowledged, in order. */
  readonly #removals: Array<() => void> = [];
  #underWay = 0;
  #onAcknowledged: () => void = () => {};

  constructor(port: MessagePort) {
    this.#port = port;
    port.on('message', ({ kind }: PageMessage) => {
      if (kind === 'removal-acknowledged') this.#removals.shift()?.();
      if (kind !== 'acknowledged') return;
      this.#underWay -= 1;
      this.#onAcknowledged();
    });
    port.on('close', () => {
      this.#closed.abort();
      this.#onAcknowledged();
      for (const acknowledge of this.#removals.splice(0)) acknowledge();
    });
  }

  /** Aborts when either end is closed. */
  get signal(): AbortSignal {
    return this.#closed.signal;
  }

  /** Sends a page. @returns when the next page may be sent */
  async send(page: SharedPage): Promise<void> {
    if (this.signal.aborted) return;
    this.#underWay += 1;
    this.#port.postMessage({ kind: 'page', page } satisfies PageMessage);
    while (this.#underWay >= maxUnderWay && !this.signal.aborted)
      await new Promise<void>((resolve) => {
        this.#onAcknowledged = resolve;
      });
  }

  /**
   * Reports the removal of a stream.
   * @returns when the other thread has dropped its events, or has ended
   * @throws UnavailableError if it does not answer in time
   */
  async sendRemoval(stream: string): Promise<void> {
    if (this.signal.aborted) return;
    this.#port.postMessage({ kind: 'removed', stream } satisfies PageMessage);
    const acknowledged = new Promise<void>((resolve) => this.#removals.push(resolve));
    await withTimeoutError(removalAnswerMs, acknowledged, noAnswer);
  }

  close(): void {
    this.#port.close();
    this.#closed.abort();
    this.#onAcknowledged();
  }
}
