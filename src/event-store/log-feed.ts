import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { type ChangeListener, ChangeNotifier, listenForChanges, type SentPage } from './change-notifications.ts';
import type { LogChanges, LogPage, LogPageRequest } from './log-pages.ts';
import type { LogTail } from './log-tail.ts';
import { LogWindow } from './log-window.ts';
import { LazyEvent, type Upcast } from './recorded-event.ts';

/** Maximum length of the events that wait for the tail of the other thread. */
const maxCharacters = 2 * 1024 * 1024;

/**
 * Gives another thread what a tail reads at the end of the log, so that each page is read once. The other thread reads
 * older events by itself, and pages that it misses while it is busy.
 * @param changes of the log that the tail reads. Its events are `LazyEvent`s
 * @returns the port for `FedPages`: transfer it there. Its end, and that of the tail, end the feed
 */
export function feedTail(tail: LogTail, changes: LogChanges): MessagePort {
  const { port1, port2 } = new MessageChannel();
  const closed = new AbortController();
  const notifier = new ChangeNotifier(port1, () => closed.abort());
  const stopListening = [
    changes.onDoubt(() => notifier.sendDoubt()),
    changes.onStreamRemoved((stream) => notifier.sendRemoval(stream)),
  ];
  // Null until the first batch: what was stored while the follower began is in it only in part.
  let after: number | null = null;
  const following = tail.follow({
    name: 'The feed of the projector thread',
    after: 'end',
    handle: ({ events, position, characters }) => {
      // The window of the other thread would not keep a page of more characters.
      const isSent = events.length > 0 && characters <= maxCharacters;
      const stored = () => events.map((event) => (event as LazyEvent).stored);
      notifier.send(position, isSent && after !== null ? { after, position, characters, events: stored() } : undefined);
      after = position;
    },
    signal: closed.signal,
  });
  void following.ended.then(() => {
    for (const stop of stopListening) stop();
    notifier.close();
  });
  return port2;
}

/** Pages that `feedTail` has sent from another thread. */
export class FedPages {
  readonly changes: ChangeListener;
  readonly #window = new LogWindow(maxCharacters);
  readonly #port: MessagePort;
  readonly #upcast: Upcast;

  constructor(port: MessagePort, upcast: Upcast) {
    this.#port = port;
    this.#upcast = upcast;
    this.changes = listenForChanges(port, (page) => this.#add(page));
    this.changes.onStreamRemoved((stream) => this.#window.forget(stream));
    this.changes.onDoubt(() => this.#window.moveTo(this.#window.end));
  }

  /** Finds sent pages; null if they have not come, or have left the memory. */
  find({ after, maxEvents }: LogPageRequest): LogPage | null {
    const { end } = this.#window;
    if (after >= end || !this.#window.covers(after)) return null;
    const taken = this.#window.take(after, () => true, maxEvents);
    return { after, ...taken, isEnd: taken.position === end };
  }

  close(): void {
    this.#port.close();
  }

  #add({ events: stored, ...page }: SentPage): void {
    const events = stored.map((event) => new LazyEvent(event, this.#upcast));
    if (page.after !== this.#window.end) this.#window.moveTo(page.after);
    this.#window.add({ ...page, events, isEnd: true });
  }
}
