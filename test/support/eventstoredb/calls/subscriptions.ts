import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import type { EventLog, LoggedEvent } from '#test/support/eventstoredb/event-log.ts';
import {
  type CallFailure,
  consumerTooSlow,
  streamDeleted,
  thrownByHandler,
} from '#test/support/eventstoredb/faults/failures.ts';
import { caughtUp, checkpoint, confirmation } from './messages.ts';
import type { ReadRequest } from './read-request.ts';
import { indexOf, type ReadCall, resolved, writable } from './reads.ts';

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
  /** The index in the log from which catching up sends it again. */
  readonly index: number;
}

/** A subscription. It catches up at the client's pace, and is then live at the server's. */
export class Subscription {
  readonly #call: ReadCall;
  readonly #log: EventLog;
  readonly #request: ReadRequest;
  readonly #slowSubscribers: SlowSubscribers;
  readonly #waiting: WaitingAnswer[] = [];
  /** Whether it has read the whole log, but not sent its last page yet. */
  #isTransitioning = false;
  #blocked = false;
  #stopListening: () => void = () => {};
  /** The index from which it must catch up again; null when it need not. */
  #fellBehindAt: number | null = null;
  #onFellBehind: () => void = () => {};

  constructor(call: ReadCall, log: EventLog, request: ReadRequest, slowSubscribers: SlowSubscribers) {
    this.#call = call;
    this.#log = log;
    this.#request = request;
    this.#slowSubscribers = slowSubscribers;
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
    const start = indexOf(this.#log, from);
    if (start === null) return this.fail(thrownByHandler());
    this.#call.write(confirmation());
    // A fresh store's first record is seen by filters though no reader gets it.
    const alreadyConsidered = filter !== null && from === 'start' ? 1 : 0;
    let index: number | null = Math.min(start, this.#log.events.length);
    let considered = alreadyConsidered;
    while (index !== null && !this.#isOver()) {
      await this.#catchUpAll(index, considered);
      considered = 0;
      index = this.#isOver() ? null : await this.#liveAll();
    }
  }

  /** Sends pages from a place in the log on, and listens for new events from before the last of them is sent. */
  async #catchUpAll(start: number, alreadyConsidered: number): Promise<void> {
    const { from, filter } = this.#request;
    const { events } = this.#log;
    const startPosition = typeof from === 'bigint' ? Number(from) : null;
    let index = start;
    let considered = alreadyConsidered;
    let sinceCheckpoint = 0;
    while (index < events.length && !this.#isOver()) {
      const pagePosition = index === 0 ? 0 : (events[index]?.position ?? 0);
      const page: LoggedEvent[] = [];
      for (; index < events.length && page.length < pageSize; index += 1) {
        if (considered >= (filter?.window ?? pageSize)) break;
        const event = events[index] as LoggedEvent;
        considered += 1;
        if (event.position !== startPosition && filter?.allows(event) !== false) page.push(event);
      }
      if (index === events.length) this.#listenToAll();
      for (const event of page) await this.#send(resolved(this.#log, event, this.#request));
      if (this.#fellBehindAt !== null) {
        index = this.#fellBehindAt;
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
    this.#waiting.unshift({ answer: caughtUp(), index: this.#waiting[0]?.index ?? this.#log.events.length });
    this.#drained();
    if (this.#fellBehindAt === null) await fellBehind;
    const index = this.#fellBehindAt;
    this.#fellBehindAt = null;
    return index;
  }

  #listenToAll(): void {
    const { filter } = this.#request;
    let sinceCheckpoint = 0;
    this.#isTransitioning = true;
    this.#stopListening = this.#log.listen((event) => {
      if (filter?.allows(event) !== false) this.#offer(resolved(this.#log, event, this.#request), event.index);
      sinceCheckpoint += 1;
      if (filter === null || sinceCheckpoint < filter.checkpointEvery) return;
      sinceCheckpoint = 0;
      this.#offer(checkpoint(event.position), event.index + 1);
    });
  }

  async #runStream(stream: string): Promise<void> {
    const { from } = this.#request;
    if (from !== 'end' && this.#log.isTombstoned(stream)) return this.fail(streamDeleted(stream));
    this.#call.write(confirmation());
    let seen = typeof from === 'bigint' ? from : -1n;
    let isThere = from === 'end';
    while (from !== 'end' && !this.#isOver()) {
      const events = this.#log.visible(stream);
      isThere = events !== null;
      const page = (events ?? []).filter(({ revision }) => revision > seen).slice(0, pageSize);
      if (page.length === 0) break;
      for (const event of page) {
        await this.#send(resolved(this.#log, event, this.#request));
        seen = event.revision;
      }
    }
    if (!this.#isOver()) this.#liveStream(stream, seen, isThere);
  }

  /** @param isCaughtUp false for a stream that is not there yet: the mark comes with its first event */
  #liveStream(stream: string, seen: bigint, isCaughtUp: boolean): void {
    let marked = isCaughtUp;
    if (marked) this.#offer(caughtUp());
    this.#stopListening = this.#log.listen((event) => {
      if (event.stream !== stream || event.revision <= seen) return;
      this.#offer(resolved(this.#log, event, this.#request));
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
  #offer(answer: ReadResp, index = 0): void {
    if (this.#isOver() || this.#fellBehindAt !== null) return;
    if (!this.#blocked && !this.#isTransitioning) this.#write(answer);
    else if (this.#waiting.length < liveBuffer) this.#waiting.push({ answer, index });
    else this.#tooSlow();
  }

  #tooSlow(): void {
    if (this.#slowSubscribers === 'dropped' || this.#request.stream !== null) {
      this.drop();
      return;
    }
    this.#stopListening();
    this.#isTransitioning = false;
    this.#fellBehindAt = this.#waiting[0]?.index ?? this.#log.events.length;
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
