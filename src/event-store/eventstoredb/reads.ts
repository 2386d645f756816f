import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import { BackOff } from '#shared/async/back-off.ts';
import { delay } from '#shared/async/delay.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { callFailure, isDeleted, isRefusal, reasonOf } from './call-failure.ts';
import { type Connection, endCall, type ReadCall } from './connection.ts';
import { bytesOf, eventOf } from './event-message.ts';
import { within } from './within.ts';

/** Reads that end: each tried again until its deadline, since reading twice does no harm. */
export class Reads {
  readonly #connection: Connection;
  readonly #deadlineMs: number;
  readonly #closed = new AbortController();

  /** @param deadlineMs of a read, with all its tries */
  constructor(connection: Connection, deadlineMs: number) {
    this.#connection = connection;
    this.#deadlineMs = deadlineMs;
  }

  /**
   * All answers of a read.
   * @param maxBytes of events, past which the rest is not waited for; two events come whatever their size
   * @throws UnavailableError
   */
  async answers(request: ReadReq, maxBytes = Number.POSITIVE_INFINITY): Promise<ReadonlyArray<ReadResp>> {
    const end = Date.now() + this.#deadlineMs;
    const backOff = new BackOff({ firstMs: 20, longestMs: 500 });
    for (;;) {
      if (this.#closed.signal.aborted) throw new UnavailableError('The event store is closed.');
      const left = end - Date.now();
      const result = await this.#once(request, maxBytes, left).catch(callFailure);
      if (!('detail' in result)) return result;
      const wait = backOff.failed();
      if (isDeleted(result)) throw new UnavailableError('The stream was deleted in EventStoreDB.');
      if (isRefusal(result)) throw new UnavailableError(`The event store refuses to be read: ${reasonOf(result)}.`);
      if (Date.now() + wait >= end) throw new UnavailableError(`The event store cannot be read: ${reasonOf(result)}.`);
      await delay(wait, this.#closed.signal);
    }
  }

  /** Reads are refused from now on; those under way end with the connection. */
  close(): void {
    this.#closed.abort();
  }

  async #once(request: ReadReq, maxBytes: number, milliseconds: number): Promise<ReadonlyArray<ReadResp>> {
    const end = Date.now() + milliseconds;
    try {
      const call = await this.#connection.read(request, milliseconds, milliseconds);
      const answers = await within(Math.max(end - Date.now(), 0) + 100, allOf(call, maxBytes)).finally(() =>
        endCall(call),
      );
      this.#connection.answered();
      return answers;
    } catch (error) {
      this.#connection.failed(error, milliseconds);
      throw error;
    }
  }
}

function allOf(call: ReadCall, maxBytes: number): Promise<ReadResp[]> {
  return new Promise((resolve, reject) => {
    const answers: ReadResp[] = [];
    let events = 0;
    let bytes = 0;
    call.on('data', (answer: ReadResp) => {
      const event = eventOf(answer);
      if (event !== undefined) {
        if (events >= 2 && bytes > maxBytes) return resolve(answers);
        events += 1;
        bytes += bytesOf(event);
      }
      answers.push(answer);
    });
    call.on('error', reject);
    call.on('end', () => resolve(answers));
    call.on('close', () => reject(new Error('The read was closed.')));
  });
}
