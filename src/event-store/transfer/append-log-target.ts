import * as E from 'fp-ts/lib/Either.js';
import type { AppendFailure, AppendResult, EventStore, StoredEvent } from '#event-store/event-store.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { type AppendBatch, checkRevisionFollows, splitIntoAppends } from './append-batches.ts';
import { LogError } from './log-failure.ts';
import type { LogTarget, RawEvent, RawLog } from './raw-log.ts';

/**
 * Imports a log into any event store, one append after the other. Two appends at the same time could be stored in
 * either order, and a failed one would be missing before the next.
 */
export class AppendLogTarget implements LogTarget {
  readonly #store: Pick<EventStore, 'append'> & RawLog;

  constructor(store: Pick<EventStore, 'append'> & RawLog) {
    this.#store = store;
  }

  readRawLog(after: number, limit: number): ReadonlyArray<RawEvent> | Promise<ReadonlyArray<RawEvent>> {
    return this.#store.readRawLog(after, limit);
  }

  lastPosition(): Promise<number> {
    return this.#store.lastPosition();
  }

  async store(events: ReadonlyArray<StoredEvent>): Promise<number> {
    for (const event of events) checkId(event);
    let position = 0;
    for (const run of splitIntoAppends(events)) position = (await this.#append(run)).position;
    return position;
  }

  async #append(run: AppendBatch): Promise<AppendResult> {
    const outcome = await this.#store.append(run.stream, run.expectedRevision, run.events);
    if (E.isRight(outcome)) return outcome.right;
    throw refusal(run, outcome.left);
  }
}

function refusal(run: AppendBatch, failure: AppendFailure): Error {
  switch (failure.kind) {
    case 'conflict':
      return checkRevisionFollows(run, failure.actualRevision);
    case 'append-too-large':
      return new LogError(
        `Revision ${run.expectedRevision + 1} of ${run.stream} takes ${failure.bytes} bytes; the target stores ${failure.maxBytes} at once: raise its limit.`,
      );
    case 'unavailable':
      return new UnavailableError(failure.detail, failure.retryAfterSeconds);
  }
}

/**
 * Refuses an id that is not in lower case. EventStoreDB returns ids in lower case, and any other spelling would break
 * the chain.
 */
function checkId({ stream, revision, id }: StoredEvent): void {
  if (/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id)) return;
  throw new LogError(
    `The id of revision ${revision} of ${stream} is not a UUID in lower case: the target would not keep it.`,
  );
}
