import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import { type Connection, endCall, type ReadCall } from './connection.ts';
import { bytesOf, type EventMessage, eventOf } from './event-message.ts';
import { subscriptionRequest } from './requests.ts';
import { TimedOutError } from './within.ts';

/** Bytes of events that wait to be taken, beyond which the server is made to wait. */
const maxWaitingBytes = 16 * 1024 * 1024;

/** How long events are gathered before they are taken, while the rest of the log is still to come. */
const gatherMilliseconds = 20;

/** What was taken from a feed. */
export interface Taken {
  readonly messages: ReadonlyArray<EventMessage>;
  /** Nothing more had come, after the server had said that the rest is live. */
  readonly caughtUp: boolean;
}

/**
 * One call of the server's `$all` subscription: events are taken when asked for; those that come meanwhile wait, a
 * bounded number of them. It ends for many reasons, one of which is that the server drops whoever is too slow.
 */
export class SubscriptionFeed {
  readonly #call: ReadCall;
  readonly #maxWaiting: number;
  #waiting: EventMessage[] = [];
  #taken = 0;
  #waitingBytes = 0;
  #live = false;
  #confirmed = false;
  #ended: unknown = null;
  #wake: () => void = () => {};

  /**
   * Opens the call.
   * @param after the position after which to begin; 0 for the whole log
   * @param maxWaiting events that wait to be taken, at most
   * @param startMs until the server confirms it
   * @throws the call's failure, or TimedOutError
   */
  static async open(
    connection: Connection,
    after: number,
    maxWaiting: number,
    startMs: number,
  ): Promise<SubscriptionFeed> {
    const end = Date.now() + startMs;
    const call = await connection.read(subscriptionRequest(after), null, startMs);
    const feed = new SubscriptionFeed(call, maxWaiting);
    const limit = setTimeout(
      () => feed.#end(new TimedOutError(`The subscription did not start within ${startMs} ms`)),
      end - Date.now(),
    );
    await feed.#until(() => feed.#confirmed).finally(() => clearTimeout(limit));
    connection.answered();
    return feed;
  }

  private constructor(call: ReadCall, maxWaiting: number) {
    this.#call = call;
    this.#maxWaiting = maxWaiting;
    call.on('data', (answer: ReadResp) => this.#receive(answer));
    call.on('error', (error: Error) => this.#end(error));
    call.on('end', () => this.#end(new Error('The server ended the subscription.')));
    call.on('close', () => this.#end(new Error('The subscription was closed.')));
  }

  /**
   * Waits for events, or for the mark that there are none left. The server sends them one by one: they are gathered,
   * since a batch has its costs, but live ones no longer than those take that came with the first.
   * @param count of events at most
   * @param isCaughtUp the taker knows already that it is caught up: then only events are worth taking
   * @returns null when the feed was closed
   * @throws why the call ended, once all that had come before was taken
   */
  async take(count: number, isCaughtUp: boolean): Promise<Taken | null> {
    await this.#until(() => this.#waitingCount > 0 || (this.#live && !isCaughtUp));
    await this.#gather(count);
    if (this.#ended === closed) return null;
    if (this.#waitingCount === 0 && !(this.#live && !isCaughtUp)) throw this.#ended;
    const messages = this.#waiting.slice(this.#taken, this.#taken + count);
    this.#taken += messages.length;
    for (const message of messages) this.#waitingBytes -= bytesOf(message);
    if (this.#waitingCount === 0) {
      this.#waiting = [];
      this.#taken = 0;
    }
    if (this.#waitingCount <= this.#maxWaiting / 2 && this.#ended === null) this.#call.resume();
    return { messages, caughtUp: this.#live && this.#waitingCount === 0 };
  }

  /** Ends the call, and whoever waits for it. */
  close(): void {
    this.#end(closed);
  }

  get #waitingCount(): number {
    return this.#waiting.length - this.#taken;
  }

  async #gather(count: number): Promise<void> {
    if (this.#live) {
      await nextTurn();
      return;
    }
    let late = false;
    const limit = setTimeout(() => {
      late = true;
      this.#wake();
    }, gatherMilliseconds);
    await this.#until(() => late || this.#live || this.#waitingCount >= count).finally(() => clearTimeout(limit));
  }

  #receive(answer: ReadResp): void {
    const event = eventOf(answer);
    if (event !== undefined) {
      this.#waiting.push(event);
      this.#waitingBytes += bytesOf(event);
      if (this.#waitingCount >= this.#maxWaiting || this.#waitingBytes >= maxWaitingBytes) this.#call.pause();
    } else if (answer.hasConfirmation()) this.#confirmed = true;
    else if (answer.hasCaughtUp()) this.#live = true;
    else if (answer.hasFellBehind()) this.#live = false;
    else return;
    this.#wake();
  }

  #end(reason: unknown): void {
    if (this.#ended !== null) return;
    this.#ended = reason;
    endCall(this.#call);
    this.#wake();
  }

  /** Resolves once the condition holds or the call has ended; throws its end while it was not confirmed. */
  async #until(condition: () => boolean): Promise<void> {
    while (!condition() && this.#ended === null)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    if (!this.#confirmed && this.#ended !== null && this.#ended !== closed) throw this.#ended;
  }
}

/** Why a feed ended that its owner closed. */
const closed = Symbol('closed');
