import { isDeepStrictEqual } from 'node:util';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { type AnyProjection, type EventHandling, keysOf, reactionsOf } from '#projection-engine/projection.ts';
import { findIndex } from '#read-store/indexable-fields.ts';
import type { DocumentValue, DocumentWrite, FoldedDocument, Where } from '#read-store/read-store.ts';
import { BufferedDocument, documentText, heapBytes, maxHeapBytes } from './buffered-document.ts';
import { WhereIndex } from './where-index.ts';

/** What is in memory between two commits; bytes are estimated. */
export interface DocumentBufferLimits extends DocumentCapacityLimits {
  readonly maxBytes: number;
  /**
   * Keeps documents as JSON texts between commits, and parses them when an event touches them. Texts take a fraction of
   * the memory, and the garbage collector does not look into them. Default false.
   */
  readonly asTexts?: boolean;
}

/** Maximum documents that differ from the stored ones, unless a single run of events changes more. */
const maxChanged = 4000;
const bytesOfCharacter = 2;

interface Change {
  readonly entry: BufferedDocument;
  readonly value: DocumentValue | null;
}

/**
 * The documents of a projection in memory, as far as they are needed. It applies events, and returns one write for
 * each changed document. After a commit the documents in memory are a bounded cache of the stored ones.
 */
export class DocumentBuffer {
  readonly #projection: AnyProjection;
  readonly #reactions: ReadonlyMap<string, EventHandling>;
  #limits: DocumentBufferLimits;
  /** The documents in order of last use, as of the last commit, the least recent first. */
  readonly #entries = new Map<string, BufferedDocument>();
  /** The documents that were used since the last commit. */
  #used: BufferedDocument[] = [];
  #applications = 0;
  readonly #removable = new WhereIndex();
  #changed: BufferedDocument[] = [];
  #removals: { readonly where: Where; readonly position: number }[] = [];
  #bytes = 0;
  #capacity: DocumentCapacity;

  constructor(projection: AnyProjection, limits: DocumentBufferLimits) {
    this.#projection = projection;
    this.#reactions = reactionsOf(projection);
    this.#limits = limits;
    this.#capacity = new DocumentCapacity(limits);
  }

  /** Changes the limits from the next commit on. */
  limit(limits: DocumentBufferLimits): void {
    this.#limits = limits;
    this.#capacity = new DocumentCapacity(limits);
  }

  /**
   * True if a commit is due after a run of events: if nothing has changed, so that only the checkpoint moves, or if too
   * many documents have changed to wait for further changes.
   */
  get due(): boolean {
    return this.#changed.length >= maxChanged || (this.#changed.length === 0 && this.#removals.length === 0);
  }

  /** True if the documents in memory must be committed before further events are handled. */
  get full(): boolean {
    return this.#bytes > 2 * this.#limits.maxBytes;
  }

  /** @throws what the projection's `keys` throws; Error for a key that is not a text */
  keys(event: RecordedEvent): ReadonlyArray<string> {
    if (this.#reactions.get(event.type)?.handle === undefined) return [];
    return keysOf(this.#projection, event);
  }

  /** True if the event is the first that touches the documents of its keys, so they need not be in memory. */
  creates({ type }: RecordedEvent): boolean {
    return this.#reactions.get(type)?.creates === true;
  }

  knows(id: string): boolean {
    return this.#entries.has(id);
  }

  /** Keeps a stored document, null if it does not exist. One that was removed since then counts as missing. */
  remember(id: string, stored: FoldedDocument | null): void {
    const isThere = stored !== null && !this.#isRemoved(stored);
    const entry = new BufferedDocument(
      isThere
        ? { ...stored, id, bytes: maxHeapBytes(stored.bytes) }
        : { id, order: 0, position: 0, value: null, bytes: 0 },
    );
    if (stored !== null) this.#capacity.noteRead();
    this.#entries.set(id, entry);
    this.#bytes += entry.bytes;
    this.#removable.add(entry);
  }

  /**
   * Applies an event completely or not at all. Removals come first, so that a document that the handler creates stays.
   * @param keys what `keys` returned for the event; all of these documents are in memory, or the event creates them
   * @param careful whether to throw here for a document that `writes` could not write
   * @throws what the projection throws
   */
  apply(event: RecordedEvent, keys: ReadonlyArray<string>, careful = false): void {
    const removal = this.#removal(event);
    const removed = removal === undefined ? undefined : this.#removable.matching(removal, this.#entries.values());
    const changes = this.#changes(event, keys, removed);
    if (careful) for (const { entry, value } of changes) documentText(entry.id, value);
    if (removal !== undefined && removed !== undefined) this.#remove(removal, removed, event.position);
    for (const { entry, value } of changes) this.#change(entry, value, event.position);
  }

  /**
   * Returns the writes since the last commit, in the order in which a store without transactions applies them: removals
   * by index, then each changed document once, those first for which the projection's `isWrittenFirst` holds.
   * @throws Error for a document that JSON cannot represent
   */
  writes(): ReadonlyArray<DocumentWrite> {
    const writes: DocumentWrite[] = this.#removals.map((removal) => ({ kind: 'delete-where', ...removal }));
    // A document that has survived a removal of this batch must not count as older than that removal.
    const outlived = this.#removals.at(-1)?.position ?? 0;
    const [first, others] = this.#changedInOrder();
    for (const entry of first) writes.push(this.#write(entry, Math.max(entry.position, outlived), true));
    for (const entry of others) writes.push(this.#write(entry, Math.max(entry.position, outlived)));
    return writes;
  }

  /** Call it when the result of `writes` is stored. Evicts the documents beyond the limits. */
  committed(): void {
    for (const entry of this.#changed) entry.changed = false;
    this.#changed = [];
    this.#capacity.adapt(this.#used.length);
    this.#putUsedLast();
    this.#removals = [];
    this.#removable.forgetRemovals();
    for (const entry of this.#entries.values()) {
      if (this.#entries.size <= this.#capacity.documents && this.#bytes <= this.#limits.maxBytes) return;
      this.#entries.delete(entry.id);
      this.#bytes -= entry.bytes;
      this.#removable.remove(entry);
    }
  }

  /** Drops all documents, also what is stored. */
  forget(): void {
    this.#entries.clear();
    this.#changed = [];
    this.#used = [];
    this.#removals = [];
    this.#removable.clear();
    this.#bytes = 0;
  }

  #removal(event: RecordedEvent): Where | undefined {
    const where = this.#reactions.get(event.type)?.removeWhere?.(event);
    if (where !== undefined && findIndex(this.#projection.indexes, where) === undefined)
      throw new Error(`What is to be removed has no index: ${Object.keys(where).join(', ')}.`);
    return where;
  }

  #isRemoved({ value, position }: FoldedDocument): boolean {
    return value !== null && this.#removals.length > 0 && this.#removable.wasRemoved(value, position);
  }

  #changes(
    event: RecordedEvent,
    keys: ReadonlyArray<string>,
    removed: ReadonlySet<BufferedDocument> | undefined,
  ): ReadonlyArray<Change> {
    if (keys.length === 0) return [];
    const { handle } = this.#reactions.get(event.type) ?? {};
    const changes: Change[] = [];
    this.#applications += 1;
    const valueBefore = (key: string) => {
      const entry = this.#entries.get(key);
      if (entry === undefined) throw new Error(`Document ${key} was not read before its event.`);
      return removed?.has(entry) === true ? null : entry.value;
    };
    for (const key of keys) {
      const entry = this.#entries.get(key) ?? this.#created(event, key);
      if (entry === undefined) throw new Error(`Document ${key} was not read before its event.`);
      // The event may name a document twice.
      if (entry.applied === this.#applications) continue;
      entry.applied = this.#applications;
      this.#use(entry);
      // The stored document includes this event already: a commit whose checkpoint was lost is being replayed.
      if (entry.position >= event.position) continue;
      const before = removed?.has(entry) === true ? null : entry.value;
      const value = handle?.(before, event, key, valueBefore) ?? null;
      if (value !== before || before !== entry.value) changes.push({ entry, value });
    }
    return changes;
  }

  #created(event: RecordedEvent, key: string): BufferedDocument | undefined {
    if (this.creates(event)) this.remember(key, null);
    return this.#entries.get(key);
  }

  #remove(where: Where, removed: ReadonlySet<BufferedDocument>, position: number): void {
    // One removal at the later position replaces two equal ones.
    if (isDeepStrictEqual(this.#removals.at(-1)?.where, where)) this.#removals.pop();
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

  #change(entry: BufferedDocument, value: DocumentValue | null, position: number): void {
    if (entry.value === null) entry.order = position;
    this.#removable.change(entry, value);
    entry.position = position;
    if (!entry.changed) this.#changed.push(entry);
    entry.changed = true;
  }

  #use(entry: BufferedDocument): void {
    if (!entry.used) this.#used.push(entry);
    entry.used = true;
  }

  #putUsedLast(): void {
    for (const entry of this.#used.sort((one, other) => one.applied - other.applied)) {
      entry.used = false;
      if (this.#limits.asTexts === true) this.#keepText(entry);
      this.#entries.delete(entry.id);
      this.#entries.set(entry.id, entry);
    }
    this.#used = [];
  }

  /** The changed documents: first those that must be stored first, then the others. */
  #changedInOrder(): readonly [ReadonlyArray<BufferedDocument>, ReadonlyArray<BufferedDocument>] {
    if (this.#projection.isWrittenFirst === undefined) return [[], this.#changed];
    const first: BufferedDocument[] = [];
    const others: BufferedDocument[] = [];
    for (const entry of this.#changed) {
      const { value } = entry;
      const isFirst = value !== null && this.#projection.isWrittenFirst(value);
      (isFirst ? first : others).push(entry);
    }
    return [first, others];
  }

  #write(entry: BufferedDocument, position: number, isFirst = false): DocumentWrite {
    const body = documentText(entry.id, entry.value);
    this.#resize(entry, heapBytes(body));
    if (entry.value === null) return { kind: 'delete', id: entry.id, position };
    if (this.#limits.asTexts === true) entry.noteText(body);
    const { id, order, value } = entry;
    return { kind: 'put', id, order, value, body, position, ...(isFirst && { isFirst }) };
  }

  #keepText(entry: BufferedDocument): void {
    const characters = entry.keepText();
    if (characters !== null) this.#resize(entry, bytesOfCharacter * characters);
  }

  #resize(entry: BufferedDocument, bytes: number): void {
    this.#bytes += bytes - entry.bytes;
    entry.bytes = bytes;
  }
}

/** The number of documents that are kept between two commits. */
export interface DocumentCapacityLimits {
  readonly maxDocuments: number;
  /** The number at first, which grows when documents are often needed that were not kept. Default `maxDocuments`. */
  readonly firstDocuments?: number;
}

/** The capacity grows when the store was read for more than one in `usesPerRead` used documents. */
const usesPerRead = 20;

/**
 * Doubles while keeping more would save reads: events of most read models touch the newest documents, and older ones
 * would only take memory.
 */
export class DocumentCapacity {
  readonly #maxDocuments: number;
  #documents: number;
  #reads = 0;

  constructor({ maxDocuments, firstDocuments = maxDocuments }: DocumentCapacityLimits) {
    this.#maxDocuments = maxDocuments;
    this.#documents = firstDocuments;
  }

  get documents(): number {
    return this.#documents;
  }

  /** Call it for each document that is read from the store. */
  noteRead(): void {
    this.#reads += 1;
  }

  /** Call it at each commit. @param uses how many documents events have touched since the last one */
  adapt(uses: number): void {
    if (this.#reads * usesPerRead > uses) this.#documents = Math.min(2 * this.#documents, this.#maxDocuments);
    this.#reads = 0;
  }
}
