import type { EventFailure } from '#domain/event-failure.ts';
import type { ReadOfLog } from '#domain/shared/log-mark.ts';
import type { Json } from '#shared/json/json.ts';
import type { IncompleteStreams } from './incomplete-streams.ts';
import type { DocumentValue, StoredDocument } from './stored-document.ts';

export type { DocumentValue } from './stored-document.ts';

/** A condition: equality on the fields of one declared index. */
export type Where = Readonly<Record<string, string | number | boolean | null>>;

export interface PageRequest {
  /** The place after which to continue: the `next` of the previous page. */
  readonly after?: PageKey;
  readonly limit: number;
  /** The page ends before the stored bytes of its documents exceed this. It has one document at least. */
  readonly maxBytes: number;
  /** By default the oldest come first. */
  readonly newestFirst?: boolean;
}

export interface PageKey {
  readonly order: number;
  readonly id: string;
}

export interface DocumentPage<Value extends DocumentValue> {
  readonly documents: ReadonlyArray<StoredDocument<Value>>;
  /** The place of the next page; null at the end. */
  readonly next: PageKey | null;
}

export type ProjectionState = 'running' | 'rebuilding' | 'stopped';

export interface ProjectionStatus {
  readonly name: string;
  readonly version: number;
  readonly state: ProjectionState;
  /** True if the documents that queries read have contained the whole log once. False only during the first fill. */
  readonly ready: boolean;
  /** The end of the log when the newest fill began. A rebuild moves it. */
  readonly begunAt: number;
  /** The position up to which the documents that queries read contain the log. */
  readonly position: number;
  /** The failure at which the projection has stopped. */
  readonly failure: EventFailure | null;
  readonly rebuild: {
    readonly position: number;
    readonly target: number;
    readonly eventsPerSecond: number;
    readonly secondsLeft: number | null;
  } | null;
  /** The incomplete streams of the documents that queries read. */
  readonly incompleteStreams: IncompleteStreams;
}

/**
 * The reading side of the read store, for queries. `collection` is the name of a projection. The store knows which
 * version queries read.
 */
export interface ReadStore {
  /**
   * @param fresh reads from the store and not from memory, so that the document is as new as any read before
   * @throws UnavailableError
   */
  get<Value extends DocumentValue>(
    collection: string,
    id: string,
    fresh?: 'fresh',
  ): Promise<StoredDocument<Value> | null>;
  /** Lists documents. `where` is a declared index, or `{}` for all. @throws UnavailableError */
  list<Value extends DocumentValue>(collection: string, where: Where, page: PageRequest): Promise<DocumentPage<Value>>;
  /** Counts up to a limit of at least 1. Reads the index alone. @throws UnavailableError */
  count(collection: string, where: Where, limit: number): Promise<number>;
  /** The statuses as the node that runs the projections has published them last. @throws UnavailableError */
  status(): Promise<ReadonlyArray<ProjectionStatus>>;
  /** @throws UnavailableError */
  unknownEvents(): Promise<ReadonlyArray<UnknownEventType>>;
  close(): Promise<void>;
}

/** A write never undoes what a later event did to the document: it is guarded by `position`. */
export type DocumentWrite =
  | {
      readonly kind: 'put';
      readonly id: string;
      readonly order: number;
      readonly value: DocumentValue;
      /** The stored text: `recordLast(value)` as JSON. */
      readonly body: string;
      readonly position: number;
      /** A store without transactions stores it before the other documents of the commit. Default false. */
      readonly isFirst?: boolean;
    }
  | { readonly kind: 'delete'; readonly id: string; readonly position: number }
  /** Deletes every document that matches a declared index, without reading it. */
  | { readonly kind: 'delete-where'; readonly where: Where; readonly position: number };

export type Indexes = ReadonlyArray<ReadonlyArray<string>>;

export interface CollectionDefinition {
  readonly name: string;
  readonly version: number;
  readonly indexes: Indexes;
}

/** One fill of a collection from the log. Queries read one generation of a collection, the current one. */
export interface Generation extends CollectionDefinition {
  /** Unique in the store; a newer generation has a larger one. */
  readonly number: number;
  /** The end of the log when this fill began. */
  readonly begunAt: number;
  /** True if it has contained the whole log once. */
  readonly complete: boolean;
  /** The position up to which its documents contain the log. */
  readonly checkpoint: number;
}

export interface CollectionGenerations {
  /** The generation that queries read. It is incomplete only if there was never a complete one. */
  readonly current: Generation | null;
  /** The generation of an unfinished rebuild, next to the current one. */
  readonly filling: Generation | null;
}

export interface FoldedDocument {
  readonly order: number;
  /** The position of the last event that touched the document. The document includes this event and all before it. */
  readonly position: number;
  /** Null for a deleted document, if the store remembers deletions. */
  readonly value: DocumentValue | null;
  /** The size of its JSON text. */
  readonly bytes: number;
}

/** The changes of one batch. The generation then contains the log up to `checkpoint`. */
export interface GenerationCommit {
  readonly generation: Generation;
  readonly writes: ReadonlyArray<DocumentWrite>;
  readonly checkpoint: number;
  /**
   * The revisions of its documents are the ETags of other generations' documents. A store without transactions stores
   * them after the writes of all other generations. Default false.
   */
  readonly holdsETags?: boolean;
}

/** The requests of operators that were carried out up to `position`. */
export interface OperatorState {
  readonly position: number;
  /** The ids of events that each projection skips if it cannot handle them. */
  readonly skipped: Readonly<Record<string, ReadonlyArray<string>>>;
  /** The identity of the log from which each read model was made (`EventLogIdentity`). */
  readonly madeFrom?: Readonly<Record<string, string>>;
  /** The counted events up to the position. */
  readonly unknownEvents?: UnknownEventsState;
  /** The incomplete streams of each projection's current documents. Projections without any are left out. */
  readonly incompleteStreams?: Readonly<Record<string, IncompleteStreams>>;
}

/** Writes the read store for the projection runner. There is one writer at a time. */
export interface ReadStoreWriter {
  /** @throws UnavailableError */
  generations(collection: string): Promise<CollectionGenerations>;
  /**
   * Begins an empty generation, and drops an unfinished one. The new one is current immediately if there is no complete
   * one.
   * @param begunAt the position of the log's end now
   * @throws UnavailableError
   */
  begin(definition: CollectionDefinition, begunAt: number): Promise<Generation>;
  /**
   * Documents that do not exist are left out.
   * @param maxCharacters the store may stop after the document, in the order of `ids`, with which the JSON texts reach
   * this length
   * @throws UnavailableError
   */
  read(
    generation: Generation,
    ids: ReadonlyArray<string>,
    maxCharacters?: number,
  ): Promise<ReadonlyMap<string, FoldedDocument>>;
  /**
   * Stores the writes of each generation, in order, with its checkpoint. A store with transactions stores all of a
   * generation's writes or none. Any other store writes the checkpoint last, so that a replay completes a partial
   * commit. A failed commit may be repeated.
   * @param more whether another commit follows soon: documents that no query reads yet may then be stored with it
   * @param read what was read of the log so far, for `readOfLog`. A store that publishes positions stores it with them
   * @throws UnavailableError; any other error if postponed writes are lost, and generations are at their stored
   *   checkpoints
   */
  commit(commits: ReadonlyArray<GenerationCommit>, more?: boolean, read?: ReadOfLog): Promise<void>;
  /** What was read of the log up to the stored checkpoints. @throws UnavailableError */
  readOfLog(): Promise<ReadOfLog>;
  /** Creates the indexes that a rebuild may have postponed. It may be repeated. @throws UnavailableError */
  finish(generation: Generation): Promise<void>;
  /**
   * Publishes a finished generation: from now on queries read it. The previous one is dropped.
   * @throws UnavailableError
   */
  publish(generation: Generation): Promise<void>;
  /** @throws UnavailableError */
  dropOthers(collections: ReadonlyArray<string>): Promise<void>;
  /** @throws UnavailableError */
  operatorState(): Promise<OperatorState>;
  /** @throws UnavailableError */
  saveOperatorState(state: OperatorState): Promise<void>;
  /** Replaces what `ReadStore.status` returns. @throws UnavailableError */
  saveStatus(statuses: ReadonlyArray<ProjectionStatus>): Promise<void>;
  close(): Promise<void>;
}

export type { Json };

/** A type that this release does not know. A newer release wrote its events. */
export interface UnknownEventType {
  readonly type: string;
  readonly count: number;
  readonly firstPosition: number;
  readonly lastPosition: number;
}

/**
 * Counts of unknown events. If this release does not know one of the types that were known then, the log is counted
 * again.
 */
export interface UnknownEventsState {
  readonly types: ReadonlyArray<UnknownEventType>;
  readonly knownTypes: ReadonlyArray<string>;
}
