import type { RecordedEvent } from '#event-store/event-store.ts';
import type { AnyProjection } from '#read-store/projection.ts';
import type { DocumentValue, DocumentWrite, FoldedDocument, Where } from '#read-store/read-store.ts';
import { WhereIndex } from '#read-store/where-index.ts';

/** How many documents a fold may remember between two commits, and how many bytes of their JSON text. */
export interface FoldLimits {
  readonly maxDocuments: number;
  readonly maxBytes: number;
}

/** A document in memory. `value` is null when it is known not to exist. */
export interface FoldEntry {
  readonly id: string;
  order: number;
  position: number;
  value: DocumentValue | null;
  bytes: number;
  /** It differs from what is stored. */
  changed: boolean;
}

interface Change {
  readonly entry: FoldEntry;
  readonly value: DocumentValue | null;
}

/**
 * A projection's documents in memory, as far as they are needed: events go in, writes come out, each document once.
 * What is in memory after a commit is a bounded cache of what is stored.
 */
export class Fold {
  readonly #projection: AnyProjection;
  #limits: FoldLimits;
  /** In order of last use, the least recent first. */
  readonly #entries = new Map<string, FoldEntry>();
  readonly #removable = new WhereIndex();
  #changed: FoldEntry[] = [];
  #removals: { readonly where: Where; readonly position: number }[] = [];
  #bytes = 0;

  constructor(projection: AnyProjection, limits: FoldLimits) {
    this.#projection = projection;
    this.#limits = limits;
  }

  /** Changes what it may remember after the next commit. */
  limit(limits: FoldLimits): void {
    this.#limits = limits;
  }

  /** The documents an event touches. @throws what the projection's `keys` throws */
  keys(event: RecordedEvent): ReadonlyArray<string> {
    return Object.hasOwn(this.#projection.on, event.type) ? this.#projection.keys(event) : [];
  }

  /** Whether a document is in memory. */
  knows(id: string): boolean {
    return this.#entries.has(id);
  }

  /** Takes a document in as it is stored; null for one that is not. What was removed since is not there any more. */
  remember(id: string, stored: FoldedDocument | null): void {
    const entry: FoldEntry =
      stored === null || this.#isRemoved(stored)
        ? { id, order: 0, position: 0, value: null, bytes: 0, changed: false }
        : {
            id,
            order: stored.order,
            position: stored.position,
            value: stored.value,
            bytes: stored.bytes,
            changed: false,
          };
    this.#entries.set(id, entry);
    this.#bytes += entry.bytes;
    this.#removable.add(entry);
  }

  /**
   * Takes an event in, wholly or not at all. What it removes goes first, so that a document its handler makes stands.
   * @param keys what `keys` gave for it: all of them in memory
   * @throws what the projection throws
   */
  apply(event: RecordedEvent, keys: ReadonlyArray<string>): void {
    const removal = Object.hasOwn(this.#projection.removeWhere ?? {}, event.type)
      ? this.#projection.removeWhere?.[event.type]?.(event)
      : undefined;
    const removed = removal === undefined ? undefined : this.#removable.matching(removal, this.#entries.values());
    const changes = this.#changes(event, keys, removed);
    if (removal !== undefined && removed !== undefined) this.#remove(removal, removed, event.position);
    for (const { entry, value } of changes) this.#change(entry, value, event.position);
  }

  /** What must be stored since the last commit: removals by index first, then each changed document once. */
  writes(): ReadonlyArray<DocumentWrite> {
    const writes: DocumentWrite[] = this.#removals.map((removal) => ({ kind: 'delete-where', ...removal }));
    // A document that outlived a removal of this batch must not be taken for older than that removal.
    const outlived = this.#removals.at(-1)?.position ?? 0;
    for (const entry of this.#changed) writes.push(this.#write(entry, Math.max(entry.position, outlived)));
    return writes;
  }

  /** What `writes` gave is stored: what is in memory beyond the limits is forgotten. */
  committed(): void {
    for (const entry of this.#changed) entry.changed = false;
    this.#changed = [];
    this.#removals = [];
    this.#removable.forgetRemovals();
    for (const entry of this.#entries.values()) {
      if (this.#entries.size <= this.#limits.maxDocuments && this.#bytes <= this.#limits.maxBytes) return;
      this.#entries.delete(entry.id);
      this.#bytes -= entry.bytes;
      this.#removable.remove(entry);
    }
  }

  #isRemoved({ value, position }: FoldedDocument): boolean {
    return value !== null && this.#removals.length > 0 && this.#removable.wasRemoved(value, position);
  }

  #changes(
    event: RecordedEvent,
    keys: ReadonlyArray<string>,
    removed: ReadonlySet<FoldEntry> | undefined,
  ): ReadonlyArray<Change> {
    if (keys.length === 0) return [];
    const handler = this.#projection.on[event.type];
    const changes: Change[] = [];
    for (const key of keys.length > 1 ? new Set(keys) : keys) {
      const entry = this.#entries.get(key);
      if (entry === undefined) throw new Error(`Document ${key} was not read before its event.`);
      // Stored with this event in it already: a commit whose checkpoint was lost is being replayed.
      if (entry.position >= event.position) continue;
      const before = removed?.has(entry) === true ? null : entry.value;
      const value = handler?.(before, event, key) ?? null;
      if (value !== before || before !== entry.value) changes.push({ entry, value });
      else this.#use(entry);
    }
    return changes;
  }

  #remove(where: Where, removed: ReadonlySet<FoldEntry>, position: number): void {
    this.#removals.push({ where, position });
    this.#removable.noteRemoval(where, position);
    for (const entry of removed) {
      this.#removable.remove(entry);
      this.#bytes -= entry.bytes;
      entry.value = null;
      entry.bytes = 0;
      entry.position = position;
    }
  }

  #change(entry: FoldEntry, value: DocumentValue | null, position: number): void {
    this.#removable.remove(entry);
    if (entry.value === null) entry.order = position;
    entry.value = value;
    entry.position = position;
    this.#removable.add(entry);
    if (!entry.changed) this.#changed.push(entry);
    entry.changed = true;
    this.#use(entry);
  }

  #use(entry: FoldEntry): void {
    this.#entries.delete(entry.id);
    this.#entries.set(entry.id, entry);
  }

  #write(entry: FoldEntry, position: number): DocumentWrite {
    const body = entry.value === null ? '' : JSON.stringify(entry.value);
    this.#bytes += body.length - entry.bytes;
    entry.bytes = body.length;
    if (entry.value === null) return { kind: 'delete', id: entry.id, position };
    return { kind: 'put', id: entry.id, order: entry.order, value: entry.value, body, position };
  }
}
