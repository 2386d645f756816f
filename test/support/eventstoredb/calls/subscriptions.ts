import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import type { LoggedEvent } from '#test/support/eventstoredb/event-log.ts';
import {
  type CallFailure,
  consumerTooSlow,
  invalidPosition,
  streamDeleted,
  thrownByHandler,
} from '#test/support/eventstoredb/faults/failures.ts';
import type { LogIndex } from '#test/support/eventstoredb/log-index.ts';
import { caughtUp, checkpoint, confirmation } from './messages.ts';
import type { ReadRequest } from './read-request.ts';
import { type ReadCall, resolved, writable } from './reads.ts';

/** Events that a server keeps for a live subscriber that does not take them. */
const liveBuffer = 32;

/** The number of events that a server reads at a time while a subscriber catches up. */
const pageSize = 32;

/** What a server does with a subscriber of `$all` that is `liveBuffer` events behind. */
export type SlowSubscribers =
  /** As 23.10: ends the subscription. */
  | 'dropped'
  /** As 24 and later: lets the subscription catch up again, and sends `caughtUp` again at the end. */
  | 'caught-up-again';

/** An answer that the client has not read. */
interface WaitingAnswer {
  readonly answer: ReadResp;
  /** The position from which catching up sends it again. */
  readonly position: number;
}

export interface SubscriptionOptions {
  readonly index: LogIndex;
  readonly request: ReadRequest;
  readonly slowSubscribers: SlowSubscribers;
  /** The refusal of a read by this node now. Only catching up reads: a live subscription may stay on any node. */
  readonly refusal: () => CallFailure | null;
}

/** A subscription. It catches up at the client's pace, and is then live at the server's. */
export class Subscription {
  readonly #call: ReadCall;
  readonly #index: LogIndex;
  readonly #request: ReadRequest;
  readonly #slowSubscribers: SlowSubscribers;
  readonly #refusal: () => CallFailure | null;
  readonly #waiting: WaitingAnswer[] = [];
  /** Whether it has read the whole log, but not sent its last page yet. */
  #isTransitioning = false;
  #blocked = false;
  #stopListening: () => void = () => {};
  /** The position from which it must catch up again; null when it need not. */
  #fellBehindAt: number | null = null;
  #onFellBehind: () => void = () => {};

  constructor(call: ReadCall, { index, request, slowSubscribers, refusal }: SubscriptionOptions) {
    this.#call = call;
    this.#index = index;
    this.#request = request;
    this.#slowSubscribers = slowSubscribers;
    this.#refusal = refusal;
    call.on('cancelled', () => this.#over());
    call.on('close', () => this.#over());
    call.on('error', () => this.#over());
  }

  /** Runs until the end, or for a single stream until the subscription is live. */
  async run(): Promise<void> {
    const { stream } = this.#request;
    if (stream === null) await this.#runAll();
    else await this.#runStream(stream);
  }

  /** Ends the call with a failure, as a server drops a subscriber. */
  fail(failure: CallFailure): void {
    this.#over();
    if (!this.#isOver()) this.#call.emit('error', failure);
  }

  /** As a server drops a subscriber that is too slow. */
  drop(): void {
    this.fail(consumerTooSlow(this.#isTransitioning ? 'transitioning to live' : 'live'));
  }

  async #runAll(): Promise<void> {
    const { from, filter } = this.#request;
    const place = this.#index.placeOf(from);
    const isNew = this.#slowSubscribers === 'caught-up-again';
    if (isNew) this.#call.write(confirmation());
    const isAtEnd = from === 'end' || (isNew && typeof from === 'bigint' && from >= (this.#index.last?.position ?? 0));
    const refusal = isAtEnd ? null : this.#refusal();
    if (refusal !== null) return this.fail(refusal);
    if (place.kind === 'invalid') return this.fail(isNew ? invalidPosition() : thrownByHandler());
    if (!isNew) this.#call.write(confirmation());
    // A fresh store's first record is seen by filters though no reader gets it.
    let considered = filter !== null && from === 'start' ? 1 : 0;
    let position: number | null = this.#positionAt(place.kind === 'at' ? place.index : this.#index.length);
    while (position !== null && !this.#isOver()) {
      await this.#catchUpAll(position, considered);
      considered = 0;
      position = this.#isOver() ? null : await this.#liveAll();
      const isRefused = position === null ? null : this.#refusal();
      if (isRefused !== null) return this.fail(isRefused);
    }
  }

  /** Sends pages from a position on, and listens for new events from before the last of them is sent. */
  async #catchUpAll(start: number, alreadyConsidered: number): Promise<void> {
    const { from, filter } = this.#request;
    const startPosition = typeof from === 'bigint' ? Number(from) : null;
    let position = start;
    let considered = alreadyConsidered;
    let sinceCheckpoint = 0;
    while (this.#index.log.placeOf(position) < this.#index.length && !this.#isOver()) {
      const { events } = this.#index.log;
      let place = this.#index.log.placeOf(position);
      const pagePosition = place === 0 ? 0 : this.#positionAt(place);
      const page: LoggedEvent[] = [];
      for (; place < this.#index.length && page.length < pageSize; place += 1) {
        if (considered >= (filter?.window ?? pageSize)) break;
        const event = events[place] as LoggedEvent;
        considered += 1;
        if (event.position !== startPosition && filter?.allows(event) !== false) page.push(event);
      }
      position = this.#positionAt(place);
      if (place === this.#index.length) this.#listenToAll();
      for (const event of page) await this.#send(resolved(this.#index, event, this.#request));
      if (this.#fellBehindAt !== null) {
        position = this.#fellBehindAt;
        this.#fellBehindAt = null;
      }
      sinceCheckpoint += considered;
      considered = 0;
      if (filter !== null && sinceCheckpoint >= filter.checkpointEvery) {
        sinceCheckpoint %= filter.checkpointEvery;
        const sent = page.at(-1)?.position;
        if (sent !== undefined) await this.#send(checkpoint(sent));
        else if (pagePosition !== startPosition) await this.#send(checkpoint(pagePosition, 0));
      }
      if (this.#isTransitioning) return;
    }
    this.#listenToAll();
  }

  /** @returns where it must catch up again, once it has fallen behind; null when it is over */
  async #liveAll(): Promise<number | null> {
    const fellBehind = new Promise<void>((resolve) => {
      this.#onFellBehind = resolve;
    });
    this.#isTransitioning = false;
    this.#waiting.unshift({ answer: caughtUp(), position: this.#waiting[0]?.position ?? this.#end });
    this.#drained();
    if (this.#fellBehindAt === null) await fellBehind;
    const position = this.#fellBehindAt;
    this.#fellBehindAt = null;
    return position;
  }

  #listenToAll(): void {
    const { filter } = this.#request;
    let sinceCheckpoint = 0;
    this.#isTransitioning = true;
    this.#stopListening = this.#index.listen((event) => {
      if (filter?.allows(event) !== false) this.#offer(resolved(this.#index, event, this.#request), event.position);
      sinceCheckpoint += 1;
      if (filter === null || sinceCheckpoint < filter.checkpointEvery) return;
      sinceCheckpoint = 0;
      this.#offer(checkpoint(event.position), event.end);
    });
  }

  /** The position of an event by its place; the end of the index for a place after it. */
  #positionAt(place: number): number {
    return place < this.#index.length ? (this.#index.log.events[place]?.position ?? 0) : this.#end;
  }

  /** The position after the last event that the index shows. */
  get #end(): number {
    return this.#index.last?.end ?? 0;
  }

  async #runStream(stream: string): Promise<void> {
    const { from } = this.#request;
    if (from !== 'end' && this.#index.isTombstoned(stream)) return this.fail(streamDeleted(stream));
    this.#call.write(confirmation());
    let seen = typeof from === 'bigint' ? from : -1n;
    let isThere = from === 'end';
    while (from !== 'end' && !this.#isOver()) {
      const events = this.#index.visible(stream);
      isThere = events !== null;
      const page = (events ?? []).filter(({ revision }) => revision > seen).slice(0, pageSize);
      if (page.length === 0) break;
      for (const event of page) {
        await this.#send(resolved(this.#index, event, this.#request));
        seen = event.revision;
      }
    }
    if (!this.#isOver()) this.#liveStream(stream, seen, isThere);
  }

  /** @param isCaughtUp false for a stream that is not there yet: the mark comes with its first event */
  #liveStream(stream: string, seen: bigint, isCaughtUp: boolean): void {
    let marked = isCaughtUp;
    if (marked) this.#offer(caughtUp());
    this.#stopListening = this.#index.listen((event) => {
      if (event.stream !== stream || event.revision <= seen) return;
      this.#offer(resolved(this.#index, event, this.#request));
      if (event.type === '$streamDeleted') return this.fail(streamDeleted(stream));
      if (marked) return;
      marked = true;
      this.#offer(caughtUp());
    });
  }

  /** At the client's pace. */
  async #send(answer: ReadResp): Promise<void> {
    if (!this.#isOver() && !this.#call.write(answer)) await writable(this.#call);
  }

  /** At the server's pace: what the client does not take is kept, up to a limit. */
  #offer(answer: ReadResp, position = 0): void {
    if (this.#isOver() || this.#fellBehindAt !== null) return;
    if (!this.#blocked && !this.#isTransitioning) this.#write(answer);
    else if (this.#waiting.length < liveBuffer) this.#waiting.push({ answer, position });
    else this.#tooSlow();
  }

  #tooSlow(): void {
    if (this.#slowSubscribers === 'dropped' || this.#request.stream !== null) {
      this.drop();
      return;
    }
    this.#stopListening();
    this.#isTransitioning = false;
    this.#fellBehindAt = this.#waiting[0]?.position ?? this.#end;
    this.#waiting.length = 0;
    this.#onFellBehind();
  }

  #write(answer: ReadResp): void {
    if (this.#call.write(answer)) return;
    this.#blocked = true;
    void writable(this.#call).then(() => this.#drained());
  }

  #drained(): void {
    this.#blocked = false;
    while (!this.#blocked && !this.#isTransitioning && !this.#isOver()) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#write(next.answer);
    }
  }

  #isOver(): boolean {
    return this.#call.cancelled || this.#call.destroyed || this.#call.writableEnded;
  }

  #over(): void {
    this.#stopListening();
    this.#waiting.length = 0;
    this.#onFellBehind();
  }
}
