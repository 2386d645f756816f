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

/** Events that a server keeps for a live subscriber that does not take them; one more and it drops the subscriber. */
const liveBuffer = 32;

/** Events that a server reads at once while a subscriber catches up. */
const pageSize = 32;

/** One subscription: catches up at its client's pace, then lives at the server's. */
export class Subscription {
  readonly #call: ReadCall;
  readonly #log: EventLog;
  readonly #request: ReadRequest;
  readonly #waiting: ReadResp[] = [];
  #blocked = false;
  #stopListening: () => void = () => {};

  constructor(call: ReadCall, log: EventLog, request: ReadRequest) {
    this.#call = call;
    this.#log = log;
    this.#request = request;
    call.on('cancelled', () => this.#over());
    call.on('close', () => this.#over());
    call.on('error', () => this.#over());
  }

  /** Runs until it is live, or over. */
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
    this.fail(consumerTooSlow());
  }

  async #runAll(): Promise<void> {
    const { from, filter } = this.#request;
    const start = indexOf(this.#log, from);
    if (start === null) return this.fail(thrownByHandler());
    this.#call.write(confirmation());
    const { events } = this.#log;
    const startPosition = typeof from === 'bigint' ? Number(from) : null;
    let index = Math.min(start, events.length);
    // A fresh store's first record is seen by filters though no reader gets it.
    let considered = filter !== null && from === 'start' ? 1 : 0;
    let sinceCheckpoint = 0;
    while (index < events.length && !this.#isOver()) {
      const pagePosition = index === 0 ? 0 : (events[index]?.position ?? 0);
      let sent: number | null = null;
      let matched = 0;
      for (; index < events.length && matched < pageSize; index += 1) {
        if (considered >= (filter?.window ?? pageSize)) break;
        const event = events[index] as LoggedEvent;
        considered += 1;
        if (event.position === startPosition || filter?.allows(event) === false) continue;
        matched += 1;
        await this.#send(resolved(this.#log, event, this.#request));
        sent = event.position;
      }
      sinceCheckpoint += considered;
      considered = 0;
      if (filter === null || sinceCheckpoint < filter.checkpointEvery) continue;
      sinceCheckpoint %= filter.checkpointEvery;
      if (sent !== null) await this.#send(checkpoint(sent));
      else if (pagePosition !== startPosition) await this.#send(checkpoint(pagePosition, 0));
    }
    if (!this.#isOver()) this.#liveAll();
  }

  #liveAll(): void {
    const { filter } = this.#request;
    let sinceCheckpoint = 0;
    this.#offer(caughtUp());
    this.#stopListening = this.#log.listen((event) => {
      if (filter?.allows(event) !== false) this.#offer(resolved(this.#log, event, this.#request));
      sinceCheckpoint += 1;
      if (filter === null || sinceCheckpoint < filter.checkpointEvery) return;
      sinceCheckpoint = 0;
      this.#offer(checkpoint(event.position));
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
  #offer(answer: ReadResp): void {
    if (this.#isOver()) return;
    if (!this.#blocked) {
      this.#write(answer);
    } else if (this.#waiting.length < liveBuffer) {
      this.#waiting.push(answer);
    } else {
      this.drop();
    }
  }

  #write(answer: ReadResp): void {
    if (this.#call.write(answer)) return;
    this.#blocked = true;
    void writable(this.#call).then(() => this.#drained());
  }

  #drained(): void {
    this.#blocked = false;
    while (!this.#blocked && !this.#isOver()) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#write(next);
    }
  }

  #isOver(): boolean {
    return this.#call.cancelled || this.#call.destroyed || this.#call.writableEnded;
  }

  #over(): void {
    this.#stopListening();
    this.#waiting.length = 0;
  }
}
