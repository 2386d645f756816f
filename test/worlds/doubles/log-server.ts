import * as E from 'fp-ts/lib/Either.js';
import { type AppendFailure, type AppendResult, type EventToAppend, noStream } from '#event-store/event-store.ts';
import { asStored, LazyEvent } from '#event-store/recorded-event.ts';

/** What an append is answered. */
export type Outcome = E.Either<AppendFailure, AppendResult>;

/** Positions have gaps, as in real stores. */
const positionStep = 3;

/** The end of a stream, which stays after its events were removed. */
interface StreamHead {
  readonly revision: number;
  readonly id: string;
}

/** A server with one log. */
export class LogServer {
  /** The stored events, in order. */
  #events: LazyEvent[] = [];
  #ofStreams = new Map<string, LazyEvent[]>();
  readonly #heads = new Map<string, StreamHead>();
  readonly #listeners = new Set<(position: number) => void>();
  #position = 0;

  /** Calls a listener with the position of each append. @returns a function that removes it */
  onStored(listener: (position: number) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get log(): ReadonlyArray<LazyEvent> {
    return this.#events;
  }

  get lastPosition(): number {
    return this.#events.at(-1)?.position ?? 0;
  }

  /** Returns the events of a stream that were not removed. */
  streamOf(stream: string): ReadonlyArray<LazyEvent> {
    return this.#ofStreams.get(stream) ?? [];
  }

  get streams(): ReadonlyArray<string> {
    return [...this.#ofStreams.keys()];
  }

  lastRevisionOf(stream: string): number {
    return this.#heads.get(stream)?.revision ?? noStream;
  }

  /** Returns the events after a position. */
  after(position: number): ReadonlyArray<LazyEvent> {
    let [low, high] = [0, this.#events.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#events[middle]?.position ?? 0) > position) high = middle;
      else low = middle + 1;
    }
    return this.#events.slice(low);
  }

  append(
    stream: string,
    expectedRevision: number,
    events: ReadonlyArray<EventToAppend>,
    lastEventId?: string,
  ): Outcome {
    const repeated = this.#positionOf(stream, expectedRevision, events);
    if (repeated !== null) return E.right({ revision: expectedRevision + events.length, position: repeated });
    const head = this.#heads.get(stream) ?? { revision: noStream, id: '' };
    const isDecidedOnHead = lastEventId === undefined || lastEventId === '' || head.id === lastEventId;
    if (head.revision !== expectedRevision || !isDecidedOnHead)
      return E.left({ kind: 'conflict', actualRevision: head.revision });
    for (const event of events) this.#store(stream, event);
    for (const listener of this.#listeners) listener(this.#position);
    return E.right({ revision: this.lastRevisionOf(stream), position: this.#position });
  }

  /** Removes the events of a stream before a revision. Its revisions continue. */
  removeBefore(stream: string, revision: number): void {
    const isKept = (event: LazyEvent) => event.stream !== stream || event.revision >= revision;
    this.#events = this.#events.filter(isKept);
    const left = this.streamOf(stream).filter(isKept);
    if (left.length > 0) this.#ofStreams.set(stream, left);
    else this.#ofStreams.delete(stream);
  }

  /** The position of the last of these events, if they are stored right after a revision. */
  #positionOf(stream: string, expectedRevision: number, events: ReadonlyArray<EventToAppend>): number | null {
    const first = this.streamOf(stream)[0]?.revision ?? 0;
    const from = expectedRevision + 1 - first;
    const stored = from < 0 ? [] : this.streamOf(stream).slice(from, from + events.length);
    const isRepeated = stored.length === events.length && stored.every(({ id }, index) => id === events[index]?.id);
    return isRepeated ? (stored.at(-1)?.position ?? null) : null;
  }

  #store(stream: string, event: EventToAppend): void {
    const revision = this.lastRevisionOf(stream) + 1;
    this.#position += positionStep;
    const stored = new LazyEvent({ ...event, stream, revision, position: this.#position }, asStored);
    this.#events.push(stored);
    const ofStream = this.#ofStreams.get(stream) ?? [];
    ofStream.push(stored);
    this.#ofStreams.set(stream, ofStream);
    this.#heads.set(stream, { revision, id: event.id });
  }
}
