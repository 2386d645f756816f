import type * as E from 'fp-ts/lib/Either.js';
import type { EventMetadata } from '#domain/shared/event.ts';
import type { JsonObject } from '#shared/json/json.ts';

/** A stream that has no event yet; its first event has revision 0. */
export const noStream = -1;

/**
 * An event ready to be stored. `data` and `metadata` are JSON texts, stored unchanged, so that the hash covers the
 * stored text.
 */
export interface EventToAppend {
  /** A UUID; with the expected revision it makes an append repeatable. */
  readonly id: string;
  readonly type: string;
  readonly data: string;
  readonly metadata: string;
}

/** An event exactly as stored: JSON texts, not upcast. Chains are verified on this form. */
export interface StoredEvent extends EventToAppend {
  readonly stream: string;
  readonly revision: number;
}

/**
 * A stored event, upcast to the newest shape of its type. In a page of the log, `data` and `metadata` are parsed at
 * their first use, and throw an `UnreadableEventError` if they cannot be read.
 */
export interface RecordedEvent<Type extends string = string, Data = JsonObject> {
  /** Global order: strictly increasing, gaps allowed. Below 2^53 on every engine. */
  readonly position: number;
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
  readonly type: Type;
  readonly data: Data;
  readonly metadata: EventMetadata;
}

/** The revision and position of the last event appended. */
export interface AppendResult {
  readonly revision: number;
  readonly position: number;
}

export type AppendFailure =
  /** The stream is not at the expected revision: nothing was stored. */
  | { readonly kind: 'conflict'; readonly actualRevision: number }
  /** The append exceeds `maxAppendBytes`: nothing was tried. */
  | { readonly kind: 'append-too-large'; readonly bytes: number; readonly maxBytes: number }
  | UnavailableFailure;

export interface UnavailableFailure {
  readonly kind: 'unavailable';
  readonly detail: string;
  readonly retryAfterSeconds: number;
  /** The outage lasts, so that further appends are refused too. Default false. */
  readonly isOutage?: boolean;
}

/** The default limit of stored bytes, on every engine. */
export const defaultMaxAppendBytes = 900 * 1024;

/** Events in order, without a gap. */
export interface StreamPart {
  readonly events: ReadonlyArray<RecordedEvent>;
  /** The length of their JSON texts, a measure of the cost of reading them. */
  readonly characters: number;
  /** The stream had no further events; if false, there may be some. */
  readonly isEnd: boolean;
}

/** Maximum length of the texts; the last event of a part may exceed it. */
export const maxPartCharacters = 512 * 1024;

/** Events in order, for a follower of the log. */
export interface EventBatch {
  readonly events: ReadonlyArray<RecordedEvent>;
  /** The position up to which the log was read, including filtered events. */
  readonly position: number;
  /** Nothing more was stored when this batch was read, so that later events are live. Such a batch may be empty. */
  readonly caughtUp: boolean;
  /** The length of its events' JSON texts: a measure of memory. */
  readonly characters: number;
}

/**
 * The port of the event store for everything but `LogTail`, which also reads its pages (`log-pages.ts`). One contract
 * suite (`test/contract/event-store.ts`) tests every adapter.
 */
export interface EventStore {
  /**
   * Appends to one stream, all or nothing, and durably before it answers. A repetition with the same ids and expected
   * revision gets the first answer again.
   * @param expectedRevision the revision the stream must be at; `noStream` for a new one
   * @param lastEventId the id of the event that the stream must end with, for an append that was decided before that
   *   event was stored: another event may have got its revision. Such an append conflicts if the event was not stored.
   * @throws UnreadableStreamError for a stream that was deleted from outside
   */
  append(
    stream: string,
    expectedRevision: number,
    events: ReadonlyArray<EventToAppend>,
    lastEventId?: string,
  ): Promise<E.Either<AppendFailure, AppendResult>>;
  /**
   * A stream's events in order, from a revision on, at most `limit`. If the texts are large, it stops early, after at
   * least one event, because they are parsed in one turn of the event loop. Concurrent large parts are parsed in
   * separate turns.
   * @throws UnavailableError; UnreadableEventError for the first that this release cannot read; UnreadableStreamError
   *   if an event from that revision on is missing, except in a stream that may be shortened
   */
  read(stream: string, fromRevision: number, limit?: number): Promise<StreamPart>;
  /** The position of the last event stored; 0 for an empty log. @throws UnavailableError */
  lastPosition(): Promise<number>;
  /** Finishes accepted appends, refuses others as `unavailable`, and closes. */
  close(): Promise<void>;
}

export interface CommitStatistics {
  /** The number of appends: more than one if a store commits several waiting ones together. */
  readonly appends: number;
  readonly events: number;
  /**
   * The time until the store has answered: from the beginning of an embedded store's transaction, or from the call to a
   * server.
   */
  readonly milliseconds: number;
}
