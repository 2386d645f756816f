import type { EventFailure } from '#domain/event-failure.ts';
import type { ReadOfLog } from '#domain/shared/log-mark.ts';
import type { Json } from '#shared/json/json.ts';
import type { IncompleteStreams } from './incomplete-streams.ts';
import type { DocumentValue, StoredDocument } from './stored-document.ts';

export type { DocumentValue } from './stored-document.ts';

/** Equality on the fields of one declared index. */
export type Where = Readonly<Record<string, string | number | boolean | null>>;

/** A request for a page of a list. */
export interface PageRequest {
  /** The place after which the page begins: the `next` of the previous page. */
  readonly after?: PageKey;
  readonly limit: number;
  /** The page ends before the stored bytes of its documents exceed this. It has one document at least. */
  readonly maxBytes: number;
  /** Whether the newest documents come first. By default the oldest do. */
  readonly newestFirst?: boolean;
}

/** The place of a document in a list. */
export interface PageKey {
  readonly order: number;
  readonly id: string;
}

/** A page of a list. */
export interface Page<Value extends DocumentValue> {
  readonly documents: ReadonlyArray<StoredDocument<Value>>;
  /** The place after which the next page begins; null at the end. */
  readonly next: PageKey | null;
}

export type ProjectionState = 'running' | 'rebuilding' | 'stopped';

/** The status of a projection. */
export interface ProjectionStatus {
  readonly name: string;
  readonly version: number;
  readonly state: ProjectionState;
  /** Whether the documents that queries read have contained the whole log once. False only during the first fill. */
  readonly ready: boolean;
  /** The end of the log when the newest fill of its documents began. A rebuild moves it. */
  readonly begunAt: number;
  /** The position up to which the documents that queries read contain the log. */
  readonly position: number;
  /** The event at which the projection has stopped, and the error. */
  readonly failure: EventFailure | null;
  /** The progress of a running rebuild. */
  readonly rebuild: {
    readonly position: number;
    readonly target: number;
    readonly eventsPerSecond: number;
    readonly secondsLeft: number | null;
  } | null;
  /** Of the documents that queries read. */
  readonly incompleteStreams: IncompleteStreams;
}

/**
 * The reading side of the read store, for queries. `collection` is the name of a projection. The store knows which
 * version queries read.
 */
export interface ReadStore {
  /**
   * @param fresh whether to read from the store and not from memory, so that the document is as new as any read before
   * @throws UnavailableError
   */
  get<Value extends DocumentValue>(
    collection: string,
    id: string,
    fresh?: 'fresh',
  ): Promise<StoredDocument<Value> | null>;
  /** Reads a page of the documents that match `where` (a declared index, or `{}` for all). @throws UnavailableError */
  list<Value extends DocumentValue>(collection: string, where: Where, page: PageRequest): Promise<Page<Value>>;
  /**
   * Counts the documents that match `where` (a declared index, or `{}` for all), up to a limit of at least 1. It reads
   * the index alone.
   * @throws UnavailableError
   */
  count(collection: string, where: Where, limit: number): Promise<number>;
  /** Reads the status that the node that runs the projections has published last. @throws UnavailableError */
  status(): Promise<ReadonlyArray<ProjectionStatus>>;
  /** Reads the counts of events whose types this release does not know. @throws UnavailableError */
  unknownEvents(): Promise<ReadonlyArray<UnknownEventType>>;
  close(): Promise<void>;
}

/** One write of a batch. A write never undoes what a later event did to the document: it is guarded by `position`. */
export type DocumentWrite =
  | {
      readonly kind: 'put';
      readonly id: string;
      readonly order: number;
      readonly value: DocumentValue;
      /** The stored text: `recordLast(value)` as JSON. */
      readonly body: string;
      readonly position: number;
      /** Whether a store without transactions stores it before the other documents of the commit. Default false. */
      readonly isFirst?: boolean;
    }
  | { readonly kind: 'delete'; readonly id: string; readonly position: number }
  /** Deletes every document that matches a declared index, without reading it. */
  | { readonly kind: 'delete-where'; readonly where: Where; readonly position: number };

/** The fields of each index that a read model declares. */
export type Indexes = ReadonlyArray<ReadonlyArray<string>>;

/** The version that makes a collection's documents, and the indexes of its lists. */
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
  /** Whether it has contained the whole log once. */
  readonly complete: boolean;
  /** The position up to which its documents contain the log. */
  readonly checkpoint: number;
}

/** The generations of a collection. */
export interface CollectionGenerations {
  /** The generation that queries read. It is incomplete only if there was never a complete one. */
  readonly current: Generation | null;
  /** The generation of an unfinished rebuild, next to the current one. */
  readonly filling: Generation | null;
}

/** A document in the form for folding. */
export interface FoldedDocument {
  readonly order: number;
  /** The position of the last event that touched the document. The document includes this event and all before it. */
  readonly position: number;
  /** Null for a deleted document, if the store remembers deletions. */
  readonly value: DocumentValue | null;
  /** The length of its JSON text. */
  readonly bytes: number;
}

/** The writes of one batch to one generation, and the position up to which the generation then contains the log. */
export interface GenerationCommit {
  readonly generation: Generation;
  readonly writes: ReadonlyArray<DocumentWrite>;
  readonly checkpoint: number;
  /**
   * Whether the revisions of its documents are the ETags of other generations' documents. A store without transactions
   * stores them after the writes of all other generations. Default false.
   */
  readonly holdsETags?: boolean;
}

/** The requests of the operators' events, and the position up to which they were carried out. */
export interface OperatorState {
  readonly position: number;
  /** By projection: ids of events that it skips if it cannot handle them. */
  readonly skipped: Readonly<Record<string, ReadonlyArray<string>>>;
  /** By projection: the identity of the log from which its read model was made (`EventLogIdentity`). */
  readonly madeFrom?: Readonly<Record<string, string>>;
  /** The counts up to the position. */
  readonly unknownEvents?: UnknownEventsState;
  /** By projection: of its current documents. Projections without any are left out. */
  readonly incompleteStreams?: Readonly<Record<string, IncompleteStreams>>;
}

/** The writing side of the read store, for the projection runner. There is one writer at a time. */
export interface ReadStoreWriter {
  /** Reads the generations of a collection. @throws UnavailableError */
  generations(collection: string): Promise<CollectionGenerations>;
  /**
   * Begins an empty generation, and drops an unfinished one. The new one is current at once if there is no complete
   * one.
   * @param begunAt the position of the log's end now
   * @throws UnavailableError
   */
  begin(definition: CollectionDefinition, begunAt: number): Promise<Generation>;
  /**
   * Reads documents by id. Those that do not exist are left out.
   * @param maxCharacters the store may stop after the document, in the order of `ids`, with which the JSON texts reach
   *   this length
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
  /** Reads what was read of the log up to the stored checkpoints. @throws UnavailableError */
  readOfLog(): Promise<ReadOfLog>;
  /** Creates the indexes that a rebuild may have postponed. It may be repeated. @throws UnavailableError */
  finish(generation: Generation): Promise<void>;
  /**
   * Marks a finished generation as complete. From now on queries read it. The previous one is dropped.
   * @throws UnavailableError
   */
  publish(generation: Generation): Promise<void>;
  /** Drops all other collections. @throws UnavailableError */
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

/** The count of events of a type that this release does not know. A newer release wrote them. */
export interface UnknownEventType {
  readonly type: string;
  readonly count: number;
  readonly firstPosition: number;
  readonly lastPosition: number;
}

/**
 * The counts, and the types that were known at that time. If this release does not know one of these, the log is
 * counted again.
 */
export interface UnknownEventsState {
  readonly types: ReadonlyArray<UnknownEventType>;
  readonly knownTypes: ReadonlyArray<string>;
}
