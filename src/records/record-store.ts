import type { EncodedJson, Json } from '#shared/json/json.ts';

/** What a group of small records is for. Each kind has a codec next to its user. */
export type RecordKind =
  /** The checkpoints of processes. */
  | 'processes'
  /** The states of deliveries to webhook endpoints. */
  | 'webhook-deliveries'
  /** The open messages to webhook endpoints. */
  | 'webhook-messages'
  /** The times at which API keys were last used. */
  | 'key-usage'
  /** The snapshots of long streams. */
  | 'snapshots'
  /** The positions and the status of projections, and the requests of operators. */
  | 'notes'
  /** The sessions of the dashboard, by the SHA-256 of their tokens. */
  | 'sessions'
  /** When sessions were last used. */
  | 'session-uses'
  /** The sessions of each key, a row each: by the id of the key, the newest first. */
  | 'sessions-of-keys'
  /** The last verification of the log. */
  | 'verification'
  /** The number of the format of the stored data. */
  | 'format';

export interface RecordKey {
  readonly kind: RecordKind;
  readonly key: string;
}

export interface RecordRange {
  /** The key after which to begin, which is excluded. Default: all but the empty key. */
  readonly after?: string;
  /** The key before which to end, which is excluded. Default: to the end. */
  readonly before?: string;
  readonly limit: number;
}

export interface RecordWriteOptions {
  /**
   * The fencing token of the writer's lease. A write with a token below that of the kind's newest `take`, or of the
   * record's last write, is refused. Without it the write is not fenced.
   */
  readonly fence?: number;
}

export type RecordPutOptions =
  | (RecordWriteOptions & { readonly keep?: never })
  | {
      readonly fence?: never;
      /**
       * Which stored values stay, whichever node has written them: `existing` means every one, `greater` one whose JSON
       * text is greater, such as a later time (RFC 3339, in the same time zone and precision).
       */
      readonly keep: 'existing' | 'greater';
    };

/**
 * Stores small JSON values by kind and key, outside the log and the read models: caches, checkpoints and other notes.
 * Two adapters implement it, SQLite and MongoDB; one contract suite (`test/contract/record-store.ts`) tests both.
 */
export interface RecordStore {
  /** @throws UnavailableError */
  get(kind: RecordKind, key: string): Promise<Json | null>;
  /** Reads a value without parsing it, because a large one takes long. @throws UnavailableError */
  encoded(kind: RecordKind, key: string): Promise<EncodedJson | null>;
  /**
   * Reads some values, in the order of their places; null for one that is missing. On MongoDB one command reads the
   * kinds that share a collection, such as `processes` and `notes`.
   * @throws UnavailableError
   */
  read(places: ReadonlyArray<RecordKey>): Promise<ReadonlyArray<Json | null>>;
  /** Reads values by their keys. Missing ones are left out. All if `keys` is absent. @throws UnavailableError */
  all(kind: RecordKind, keys?: ReadonlyArray<string>): Promise<ReadonlyMap<string, Json>>;
  /**
   * Reads a part of the values of a kind in the order of their keys, because all may be too many. Keys are compared as
   * bytes of UTF-8.
   * @throws UnavailableError
   */
  page(kind: RecordKind, range: RecordRange): Promise<ReadonlyMap<string, Json>>;
  /**
   * Makes a fencing token the newest of a kind, so that writers with older ones are refused from now on.
   * @throws FencedError if a newer token is known; UnavailableError
   */
  take(kind: RecordKind, fence: number): Promise<void>;
  /**
   * Stores values. It resolves when a crash of the process cannot lose them. It is not atomic across keys.
   * @throws FencedError; UnavailableError
   */
  put(kind: RecordKind, entries: ReadonlyMap<string, Json | EncodedJson>, options?: RecordPutOptions): Promise<void>;
  /** @throws FencedError; UnavailableError */
  delete(kind: RecordKind, keys: ReadonlyArray<string>, options?: RecordWriteOptions): Promise<void>;
  close(): Promise<void>;
}
