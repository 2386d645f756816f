import type { StoredSnapshot } from '#application/snapshots/snapshot-store.ts';
import type { EventFailure } from '#domain/shared/event-failure.ts';
import type { UnknownEventsState, UnknownEventType } from '#projection-engine/operator-state/unknown-events.ts';
import type { Json } from '#shared/json/json.ts';
import type { DocumentValue, StoredDocument } from './stored-document.ts';

export type { DocumentValue } from './stored-document.ts';

/** Equality on the fields of one declared index. */
export type Where = Readonly<Record<string, string | number | boolean | null>>;

export interface PageRequest {
  /** Begin after this place: the `next` of the page before. */
  readonly after?: PageKey;
  readonly limit: number;
  /** Stop before the documents' stored bytes exceed this; one document at least is given. */
  readonly maxBytes: number;
  /** From the newest to the oldest. Default from the oldest. */
  readonly newestFirst?: boolean;
}

export interface PageKey {
  readonly order: number;
  readonly id: string;
}

export interface Page<Value extends DocumentValue> {
  readonly documents: ReadonlyArray<StoredDocument<Value>>;
  /** Where the next page begins; null at the end. */
  readonly next: PageKey | null;
}

export type ProjectionState = 'running' | 'rebuilding' | 'stopped';

/** The status of a projection. */
export interface ProjectionStatus {
  readonly name: string;
  readonly version: number;
  readonly state: ProjectionState;
  /** What queries read has held the whole log once; false only during the first fill. */
  readonly ready: boolean;
  /** Where the log ended when the newest filling of its documents was begun: a rebuild moves it. */
  readonly begunAt: number;
  /** The position up to which its documents, as queries read them, hold the log. */
  readonly position: number;
  /** Why it stopped: the event it could not take, and the error. */
  readonly failure: EventFailure | null;
  /** A rebuild under way. */
  readonly rebuild: {
    readonly position: number;
    readonly target: number;
    readonly eventsPerSecond: number;
    readonly secondsLeft: number | null;
  } | null;
}

/**
 * The reading side of the read store: what queries ask. `collection` is a projection's name; the version that queries
 * read is the store's business.
 */
export interface ReadStore {
  /**
   * @param fresh from the store, however much is held in memory: as new as any document read before it
   * @throws UnavailableError
   */
  get<Value extends DocumentValue>(
    collection: string,
    id: string,
    fresh?: 'fresh',
  ): Promise<StoredDocument<Value> | null>;
  /** Documents that fit `where` (a declared index, or `{}` for all). @throws UnavailableError */
  list<Value extends DocumentValue>(collection: string, where: Where, page: PageRequest): Promise<Page<Value>>;
  /** The status as the node that runs the projections last published it. @throws UnavailableError */
  status(): Promise<ReadonlyArray<ProjectionStatus>>;
  /** The events that were passed because the release does not know their types. @throws UnavailableError */
  unknownEvents(): Promise<ReadonlyArray<UnknownEventType>>;
  /**
   * When each of these API keys was last used (RFC 3339, to the minute); one never used is left out.
   * @throws UnavailableError
   */
  keysLastUsed(keyIds: ReadonlyArray<string>): Promise<ReadonlyMap<string, string>>;
  /** A stream's snapshot, kept beside the read models for the deciding side. @throws UnavailableError */
  snapshot(stream: string): Promise<StoredSnapshot | null>;
  close(): Promise<void>;
}

/** One write of a batch. A write never undoes what a later event did to the document: it is guarded by `position`. */
export type DocumentWrite =
  | {
      readonly kind: 'put';
      readonly id: string;
      readonly order: number;
      readonly value: DocumentValue;
      /** `recordLast(value)` as JSON text, which is what is stored. */
      readonly body: string;
      readonly position: number;
    }
  | { readonly kind: 'delete'; readonly id: string; readonly position: number }
  /** Deletes every document that fits a declared index, without reading them. */
  | { readonly kind: 'delete-where'; readonly where: Where; readonly position: number };

/** The fields of each index that a read model declares. */
export type Indexes = ReadonlyArray<ReadonlyArray<string>>;

/** What a collection must offer: its documents are made by this version, and listed by these indexes. */
export interface CollectionDefinition {
  readonly name: string;
  readonly version: number;
  readonly indexes: Indexes;
}

/** One filling of a collection from the log. Queries read one generation of a collection, the current one. */
export interface Generation extends CollectionDefinition {
  /** Unique in the store, and counting up. */
  readonly number: number;
  /** Where the log ended when this filling was begun. */
  readonly begunAt: number;
  /** It has held the whole log once. */
  readonly complete: boolean;
  /** The position up to which its documents hold the log. */
  readonly checkpoint: number;
}

export interface CollectionGenerations {
  /** What queries read; incomplete only when there was never a complete one. */
  readonly current: Generation | null;
  /** A rebuild begun and not finished, beside the current one. */
  readonly filling: Generation | null;
}

/** A document as folding needs it. */
export interface FoldedDocument {
  readonly order: number;
  /** The last event that touched it: it and all before are in the document already. */
  readonly position: number;
  /** Null when it was deleted, where the store remembers that. */
  readonly value: DocumentValue | null;
  /** The length of its JSON text. */
  readonly bytes: number;
}

/** The writes of one batch in one generation, and the position up to which it then holds the log. */
export interface GenerationCommit {
  readonly generation: Generation;
  readonly writes: ReadonlyArray<DocumentWrite>;
  readonly checkpoint: number;
}

/** What the operators' events have asked for, and the position up to which they were obeyed. */
export interface OperatorState {
  readonly position: number;
  /** By projection: ids of events that it leaves out when it cannot take them. */
  readonly skipped: Readonly<Record<string, ReadonlyArray<string>>>;
  /** By projection: the log that its read model was made from (`EventLogIdentity`). */
  readonly madeFrom?: Readonly<Record<string, string>>;
  /** What was counted up to the position. */
  readonly unknownEvents?: UnknownEventsState;
}

/** The writing side of the read store: what the projection runner needs, and nobody else. One writer at a time. */
export interface ReadStoreWriter {
  /** What is stored about a collection. @throws UnavailableError */
  generations(collection: string): Promise<CollectionGenerations>;
  /**
   * Begins an empty generation, and drops an unfinished one. It is current at once when there is no complete one.
   * @param begunAt the position where the log ends now
   * @throws UnavailableError
   */
  begin(definition: CollectionDefinition, begunAt: number): Promise<Generation>;
  /**
   * Documents by id; those that do not exist are left out.
   * @param maxCharacters the store may stop behind the document, in the order of `ids`, with which the JSON text of all
   *   read so far reaches this
   * @throws UnavailableError
   */
  read(
    generation: Generation,
    ids: ReadonlyArray<string>,
    maxCharacters?: number,
  ): Promise<ReadonlyMap<string, FoldedDocument>>;
  /**
   * Stores each generation's writes, in order, with its checkpoint: all of a generation's or, where the engine has no
   * transactions, the checkpoint last, so that a replay completes it. A commit that failed may be sent again.
   * @param more whether another commit follows soon: documents that no query reads yet may then be stored with it
   * @throws UnavailableError; any other error when postponed writes are lost, and generations are at their stored
   * checkpoints
   */
  commit(commits: ReadonlyArray<GenerationCommit>, more?: boolean): Promise<void>;
  /** Creates the indexes that a rebuild may have postponed. Repeatable. @throws UnavailableError */
  finish(generation: Generation): Promise<void>;
  /**
   * Marks a finished generation complete; from now on queries read it, and the one before is dropped.
   * @throws UnavailableError
   */
  publish(generation: Generation): Promise<void>;
  /** Drops every collection but these. @throws UnavailableError */
  dropOthers(collections: ReadonlyArray<string>): Promise<void>;
  /** @throws UnavailableError */
  operatorState(): Promise<OperatorState>;
  /** @throws UnavailableError */
  saveOperatorState(state: OperatorState): Promise<void>;
  /** Replaces what `ReadStore.status` returns. @throws UnavailableError */
  saveStatus(statuses: ReadonlyArray<ProjectionStatus>): Promise<void>;
  /** Keeps the later time of each key. No rebuild touches it. @throws UnavailableError */
  saveKeysLastUsed(times: ReadonlyMap<string, string>): Promise<void>;
  /** Takes the place of the stream's snapshot before. No rebuild touches it. @throws UnavailableError */
  saveSnapshot(snapshot: StoredSnapshot): Promise<void>;
  close(): Promise<void>;
}

export type { Json };
