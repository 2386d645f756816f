import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { withTimeout } from '#shared/async/timed-waits.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { LogChanges } from './log-pages.ts';
import type { RawEvent } from './transfer/raw-log.ts';

/** A page for another thread, with the events as stored. */
export interface SentPage {
  readonly after: number;
  readonly position: number;
  /** The length of the events' texts. */
  readonly characters: number;
  readonly events: ReadonlyArray<RawEvent>;
}

/** A change of the log. A listener acknowledges it with its kind. */
type Change =
  /** Something was stored. The message has the page that ends at the position, if this thread has read it. */
  | { readonly kind: 'stored'; readonly position: number; readonly page?: SentPage }
  | { readonly kind: 'removed'; readonly stream: string }
  /** The log may not have what was read before this message. */
  | { readonly kind: 'doubt' };

/** Maximum number of pages on their way, so that they do not accumulate while the other thread is busy. */
const maxPagesUnderWay = 4;

/** A removal waits this long for a listener: far longer than one that runs takes. */
const maxRemovalMs = 10_000;

/**
 * Sends the last stored position to one listener, which may be in another thread. The listener acknowledges each
 * message, and the next one covers all commits in between. So messages never accumulate for a busy listener.
 */
export class ChangeNotifier {
  readonly #port: MessagePort;
  /** Removals that are not acknowledged yet, in order. */
  readonly #removals: Array<() => void> = [];
  #underWay = 0;
  #position = 0;
  #sentPosition = 0;
  #isClosed = false;

  /** @param onClose called when the listener has closed its end */
  constructor(port: MessagePort, onClose: () => void) {
    this.#port = port;
    port.on('message', (kind: Change['kind']) => {
      this.#acknowledged(kind);
      this.send(this.#position);
    });
    port.on('close', () => {
      this.#isClosed = true;
      for (const acknowledge of this.#removals.splice(0)) acknowledge();
      onClose();
    });
  }

  /**
   * @param position of the last event stored
   * @param page that ends there. It is left out while the listener is busy
   */
  send(position: number, page?: SentPage): void {
    this.#position = position;
    // A thread that commits without a pause handles its messages late, so this looks for the acknowledgement.
    const received = receiveMessageOnPort(this.#port);
    if (received !== undefined) this.#acknowledged(received.message);
    const maxUnderWay = page === undefined ? 1 : maxPagesUnderWay;
    if (this.#underWay >= maxUnderWay || position === this.#sentPosition) return;
    this.#underWay += 1;
    this.#sentPosition = position;
    this.#post({ kind: 'stored', position, ...(page !== undefined && { page }) });
  }

  sendDoubt(): void {
    this.#post({ kind: 'doubt' });
  }

  /**
   * Reports the removal of a stream. A listener that hangs drops the events when it runs again.
   * @returns when the listener has handled it or has closed its end, and after 10 s at the latest
   */
  async sendRemoval(stream: string): Promise<void> {
    if (this.#isClosed) return;
    this.#post({ kind: 'removed', stream });
    const { promise: acknowledged, resolve } = Promise.withResolvers<void>();
    this.#removals.push(resolve);
    await withTimeout(maxRemovalMs, acknowledged, undefined);
  }

  close(): void {
    this.#port.close();
  }

  #acknowledged(kind: Change['kind']): void {
    if (kind === 'stored') this.#underWay -= 1;
    if (kind === 'removed') this.#removals.shift()?.();
  }

  #post(change: Change): void {
    this.#port.postMessage(change);
  }
}

/** Readers of the log wait here for something new to be stored. */
export class ChangeListener implements LogChanges {
  /** The position that must be passed, for each wait. */
  readonly #waiting = new Map<() => void, number>();
  readonly #removalListeners = new Set<(stream: string) => void | Promise<void>>();
  readonly #doubtListeners = new Set<() => void>();
  #position = 0;
  #closed = false;

  /** The position of the last event that was announced. */
  get position(): number {
    return this.#position;
  }

  /** @param position of the last event stored */
  notify(position: number): void {
    if (position <= this.#position) return;
    this.#position = position;
    for (const [wake, after] of [...this.#waiting]) if (after < position) wake();
  }

  /** Takes back an announcement: what was announced after the position is lost. */
  withdraw(position: number): void {
    this.#position = position;
  }

  /** @returns when every listener has handled it */
  async notifyRemoval(stream: string): Promise<void> {
    await Promise.all([...this.#removalListeners].map((listener) => listener(stream)));
  }

  onStreamRemoved(listener: (stream: string) => void | Promise<void>): () => void {
    this.#removalListeners.add(listener);
    return () => this.#removalListeners.delete(listener);
  }

  /** The log may no longer have what was read from it. */
  notifyDoubt(): void {
    for (const listener of this.#doubtListeners) listener();
  }

  onDoubt(listener: () => void): () => void {
    this.#doubtListeners.add(listener);
    return () => this.#doubtListeners.delete(listener);
  }

  async waitPast(position: number, signal: AbortSignal): Promise<void> {
    await this.#waitUntil(position, signal);
    if (this.#closed && !signal.aborted)
      throw new UnavailableError('The event store has stopped: new events are not announced any more.');
  }

  #waitUntil(position: number, signal: AbortSignal): Promise<void> {
    if (this.#position > position || this.#closed || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#waiting.set(wake, position);
      signal.addEventListener('abort', wake, { once: true });
    });
  }

  /** No more notifications will come. */
  close(): void | Promise<void> {
    this.#closed = true;
    for (const wake of [...this.#waiting.keys()]) wake();
  }
}

/**
 * Listens to the `ChangeNotifier` of another thread.
 * @param onPage called with each page that it sends, before the page is announced
 * @returns the notifications; they close with the port
 */
export function listenForChanges(port: MessagePort, onPage: (page: SentPage) => void = () => {}): ChangeListener {
  const changes = new ChangeListener();
  const handle = async (change: Change) => {
    if (change.kind === 'removed') return changes.notifyRemoval(change.stream);
    if (change.kind === 'doubt') return changes.notifyDoubt();
    if (change.page !== undefined) onPage(change.page);
    changes.notify(change.position);
  };
  port.on('message', (change: Change) => void handle(change).then(() => port.postMessage(change.kind)));
  port.on('close', () => void changes.close());
  return changes;
}
