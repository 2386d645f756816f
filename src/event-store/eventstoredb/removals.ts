import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import { unavailableError } from '#event-store/eventstoredb/connection/call-failure.ts';
import { eventOf, positionOf, storedEvent } from '#event-store/eventstoredb/wire/requests.ts';
import { BackOff } from '#shared/async/retrying.ts';
import type { Availability } from '#shared/availability/availability.ts';
import { clock } from '#shared/clock.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { callFailure, isConflict, isDeleted, isRefusal } from './connection/call-failure.ts';
import type { LeaderConnection } from './connection/connection.ts';
import type { Reads } from './connection/reads.ts';
import { deleteRequest, logRequest, streamRequest } from './wire/requests.ts';
import type { StreamNames } from './wire/stream-names.ts';

/** Maximum number of events of a page in a search for streams; the last event may exceed the bytes. */
const pageEvents = 1_000;
const pageBytes = 4 * 1024 * 1024;

/** Long, because a page may be behind many events of other applications. */
const pageMs = 600_000;

export interface RemovalsOptions {
  readonly connection: LeaderConnection;
  readonly availability: Availability;
  readonly reads: Reads;
  readonly names: StreamNames;
  readonly attemptMs: number;
  /** Time limit of a removal with all its attempts. */
  readonly deadlineMs: number;
}

export class Removals {
  readonly #options: RemovalsOptions;
  readonly #closed = new AbortController();

  constructor(options: RemovalsOptions) {
    this.#options = options;
  }

  /** Implements `StreamRemoval`. The server has no list of streams, so all their events are read. */
  async streamNames(prefix: string): Promise<ReadonlyArray<string>> {
    const { reads, names } = this.#options;
    const found = new Set<string>();
    for (let after = 0; ; ) {
      // The answer includes the event at the position itself.
      const page = await reads.page(logRequest(after, pageEvents + 1, names.eventsOf(prefix)), pageBytes, pageMs);
      const events = page.answers.flatMap((answer) => eventOf(answer) ?? []);
      for (const event of events) found.add(storedEvent(event, names).stream);
      const last = events.at(-1);
      if (last === undefined || (page.isWhole && events.length <= pageEvents)) return [...found];
      after = positionOf(last);
    }
  }

  /** Implements `StreamRemoval`. @throws UnavailableError */
  async removeStream(stream: string, lastRevision: number): Promise<boolean> {
    const { connection, availability, names, attemptMs, deadlineMs } = this.#options;
    const request = deleteRequest(names.onServer(stream), lastRevision);
    const end = clock.time() + deadlineMs;
    const backOff = new BackOff({ firstMs: 20, maxMs: 500 });
    for (;;) {
      const error = await connection.delete(request, attemptMs).then(() => null, asError);
      if (error === null) return true;
      const failure = callFailure(error);
      if (isDeleted(failure)) return true;
      if (isConflict(failure)) return this.#isGone(stream);
      const waitMs = backOff.failed();
      if (isRefusal(failure) || this.#closed.signal.aborted || clock.time() + waitMs >= end)
        throw unavailableError('cannot delete a stream', error);
      await availability.waitForRecovery(waitMs, this.#closed.signal);
    }
  }

  close(): void {
    this.#closed.abort();
  }

  /** True if the stream is gone, perhaps by an earlier attempt whose answer was lost. */
  async #isGone(stream: string): Promise<boolean> {
    const { reads, names } = this.#options;
    const answers: ReadonlyArray<ReadResp> = await reads.answers(streamRequest(names.onServer(stream), 0, 1));
    return answers.every((answer) => eventOf(answer) === undefined);
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new UnavailableError(String(error));
}
