import type * as TE from 'fp-ts/lib/TaskEither.js';
import type { EventMetadata } from '#domain/shared/event.ts';
import type { JsonObject } from '#shared/json/json.ts';

/** The revision of a stream that has no event yet; the first event of a stream has revision 0. */
export const noStream = -1;

/**
 * An event ready to be stored. `data` and `metadata` are JSON texts: they are stored as they are, so that what was
 * hashed is what is kept.
 */
export interface EventToAppend {
  /** A UUID; with the expected revision it makes an append repeatable. */
  readonly id: string;
  readonly type: string;
  readonly data: string;
  readonly metadata: string;
}

/**
 * An event as stored, upcast to the newest shape of its type. Of a subscription's events, `data` and `metadata` are read
 * when they are first asked for, and throw an `UnreadableEventError` where they cannot be.
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

/** The revision of the last event appended, and its position. */
export interface AppendResult {
  readonly revision: number;
  readonly position: number;
}

export type AppendFailure =
  /** The stream is not at the expected revision: nothing was stored. */
  | { readonly kind: 'conflict'; readonly actualRevision: number }
  /** The append exceeds `maxAppendBytes`: nothing was tried. */
  | { readonly kind: 'append-too-large'; readonly bytes: number; readonly maxBytes: number }
  /** The store is down, too busy or closing. */
  | { readonly kind: 'unavailable'; readonly detail: string; readonly retryAfterSeconds: number };

/** Stored bytes of one append at most, on every engine. */
export const defaultMaxAppendBytes = 900 * 1024;

/** A part of a stream: events in order, without a gap. */
export interface StreamPart {
  readonly events: ReadonlyArray<RecordedEvent>;
  /** The length of their JSON text: what it costs to read them. */
  readonly characters: number;
  /** Whether the stream had no further events; where it is false there may be some. */
  readonly isEnd: boolean;
}

/** The length of the texts in a part of a stream at most; the last event of a part may exceed it. */
export const maxPartCharacters = 512 * 1024;

/** A run of events in order. */
export interface EventBatch {
  readonly events: ReadonlyArray<RecordedEvent>;
  /** The position up to which the log was seen (filtered events included): the next `after`. */
  readonly position: number;
  /** Nothing more was stored when this batch was read: what follows is live. May come with no events. */
  readonly caughtUp: boolean;
  /** The length of its events' JSON text, where the store knows it: what it may cost in memory. */
  readonly characters?: number;
}

export interface SubscribeOptions {
  /** The position after which to begin; 0 for the whole log. */
  readonly after: number;
  /** Only events of these types; all when absent. */
  readonly types?: ReadonlyArray<string>;
  /** Only events of other types than these; not together with `types`. */
  readonly exceptTypes?: ReadonlyArray<string>;
  /** Events in a batch at most (default 1,000). */
  readonly batchSize?: number;
  /** Ends the subscription. */
  readonly signal: AbortSignal;
}

/** The port behind which the log is kept. One contract suite (`test/contract/event-store.ts`) holds every adapter to it. */
export interface EventStore {
  /**
   * Appends to one stream, all or nothing, durable before it answers. The same ids at the same expected revision
   * again answer as the first time.
   * @param expectedRevision the revision the stream must be at; `noStream` for a new one
   */
  append(
    stream: string,
    expectedRevision: number,
    events: ReadonlyArray<EventToAppend>,
  ): TE.TaskEither<AppendFailure, AppendResult>;
  /**
   * A stream's events in order, from a revision on, `limit` at most. Stops early, with one event at least, where their
   * texts grow large: they are parsed in one turn of the event loop. Large parts that several ask for are parsed in turns
   * of their own.
   * @throws UnavailableError; UnreadableEventError for the first that this release cannot read
   */
  read(stream: string, fromRevision: number, limit?: number): Promise<StreamPart>;
  /**
   * The log from a position on, then live until the signal aborts. Pull-driven: the next batch is read when asked
   * for. Ends without an error on abort.
   */
  subscribe(options: SubscribeOptions): AsyncIterable<EventBatch>;
  /** The position of the last event stored; 0 for an empty log. @throws UnavailableError */
  lastPosition(): Promise<number>;
  /** Lets what was accepted finish, refuses the rest as `unavailable`, closes. */
  close(): Promise<void>;
}
