import type { Json } from '#src/json.ts';

/** What a projection keeps: a JSON object. Free-form JSON inside it may be deep. */
export type DocumentValue = object;

/** A document with what the store keeps beside it. */
export interface StoredDocument<Value extends DocumentValue = DocumentValue> {
  readonly id: string;
  /** The position of the event that created it: lists are in this order, then by id. */
  readonly order: number;
  readonly value: Value;
}

/** Equality on the fields of one declared index. */
export type Where = Readonly<Record<string, string | number | boolean | null>>;

export interface PageRequest {
  /** Begin after this place: the `next` of the page before. */
  readonly after?: PageKey;
  readonly limit: number;
  /** Stop before the documents' stored bytes exceed this; one document at least is given. */
  readonly maxBytes: number;
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

/** How a projection stands. */
export interface ProjectionStatus {
  readonly name: string;
  readonly version: number;
  readonly state: ProjectionState;
  /** The position up to which its documents, as queries read them, hold the log. */
  readonly position: number;
  /** Why it stopped: the event it could not take, and the error. */
  readonly failure: { readonly eventId: string; readonly eventType: string; readonly position: number; readonly message: string } | null;
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
  /** @throws Unavailable */
  get<Value extends DocumentValue>(collection: string, id: string): Promise<StoredDocument<Value> | null>;
  /** Documents oldest first that fit `where` (a declared index, or `{}` for all). @throws Unavailable */
  list<Value extends DocumentValue>(collection: string, where: Where, page: PageRequest): Promise<Page<Value>>;
  /** @throws Unavailable */
  status(): Promise<ReadonlyArray<ProjectionStatus>>;
  close(): Promise<void>;
}

/** One write of a batch. */
export type DocumentWrite =
  | { readonly kind: 'put'; readonly id: string; readonly order: number; readonly value: DocumentValue; readonly position: number }
  | { readonly kind: 'delete'; readonly id: string; readonly position: number }
  /** Deletes every document that fits a declared index, without reading them. */
  | { readonly kind: 'delete-where'; readonly where: Where; readonly position: number };

export type { Json };
