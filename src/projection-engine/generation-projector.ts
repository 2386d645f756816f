import { type EventFailure, eventFailure } from '#domain/event-failure.ts';
import type { EventBatch, RecordedEvent } from '#event-store/event-store.ts';
import { ensureReadable } from '#event-store/recorded-event.ts';
import type { Generation, GenerationCommit, ReadStoreWriter } from '#read-store/read-store.ts';
import { DocumentBuffer, type DocumentBufferLimits } from './documents/document-buffer.ts';
import { type AnyProjection, eventTypesOf } from './projection.ts';

/**
 * How far the checkpoint of an idle generation may be behind the position that it has seen. A restart reads these
 * events again.
 */
const idleCheckpointDistance = 10_000;

/**
 * Maximum length of events whose changes are only in memory. With the limit of documents it bounds the memory of a
 * fill, in which a document that changes often is stored once for many events.
 */
const maxUncommittedCharacters = 8 * 1024 * 1024;

/** Maximum length of documents that are read together for folding; a single document may have more. */
const maxLoadedCharacters = 2 * 1024 * 1024;

/** A run of events with their types, because most read models handle none of these. */
export type EventRun = EventBatch & { readonly types: ReadonlySet<string> };

interface TouchingEvent {
  readonly event: RecordedEvent;
  readonly keys: ReadonlyArray<string>;
}

export class GenerationProjector {
  readonly projection: AnyProjection;
  readonly generation: Generation;
  readonly types: ReadonlySet<string>;
  readonly #fold: DocumentBuffer;
  readonly #isSkipped: (eventId: string) => boolean;
  #position: number;
  /** The position that was seen, possibly folded only in memory. */
  #seen: number;
  #saved: number;
  /** The length of the runs of events since the last commit, without runs that touched no document. */
  #uncommittedCharacters = 0;
  #failure: EventFailure | null = null;
  /** Up to this position the document of each event is checked, because one of them cannot be written. */
  #carefulUpTo = 0;
  #mustReplay = false;
  /** True if it has contained the whole log once. */
  complete: boolean;
  /** True if all its indexes are built. */
  finished: boolean;
  /** True if it has seen the end of the log in this process. */
  caughtUp = false;

  /** @param isSkipped whether to skip an event, by its id, if the projection cannot handle it */
  constructor(
    projection: AnyProjection,
    generation: Generation,
    isSkipped: (eventId: string) => boolean,
    limits: DocumentBufferLimits,
  ) {
    this.projection = projection;
    this.generation = generation;
    this.types = new Set(eventTypesOf(projection));
    this.complete = generation.complete;
    this.finished = generation.complete;
    this.#fold = new DocumentBuffer(projection, limits);
    this.#isSkipped = isSkipped;
    this.#position = generation.checkpoint;
    this.#seen = generation.checkpoint;
    this.#saved = generation.checkpoint;
  }

  /** The position up to which its stored documents contain the log. */
  get position(): number {
    return this.#position;
  }

  /** Why it has stopped. It is fed no more events until `retry`. */
  get failure(): EventFailure | null {
    return this.#failure;
  }

  /** True if folded documents could not be written, so it must be fed again from `position`, after `retry`. */
  get mustReplay(): boolean {
    return this.#mustReplay;
  }

  limit(limits: DocumentBufferLimits): void {
    this.#fold.limit(limits);
  }

  /** Continues from `position` or from the event that it could not handle. */
  retry(): void {
    this.#failure = null;
    this.#mustReplay = false;
    this.caughtUp = false;
  }

  /**
   * Folds a run of the log, up to the first event that the projection cannot handle (`failure` then says which). If the
   * run touches more documents than fit in memory, it stores what it has folded before it continues.
   * @param run its events in order; those seen already and those of other types are passed over
   * @param mustCommit whether to return the folded documents now; else they may stay in memory for a later run
   * @returns what to commit, if it is time; call `markCommitted` with it when that is done or postponed
   */
  async fold(run: EventRun, mustCommit: boolean, store: Storing): Promise<GenerationCommit | null> {
    const { events, position, characters = maxUncommittedCharacters } = run;
    let touching = this.#handlesAnyOf(run) ? this.#touching(events) : [];
    if (touching.length > 0) this.#uncommittedCharacters += characters;
    while (touching.length > 0) {
      const loaded = await this.#load(touching, store);
      if (!this.#applyAll(touching.slice(0, loaded))) break;
      touching = touching.slice(loaded);
      if (touching.length > 0 && !(await this.#storeNow(store))) return null;
    }
    const taken = this.#failure === null ? position : lastBefore(this.#failure.position, events);
    this.#seen = Math.max(taken, this.#seen);
    return mustCommit || this.#isDue() ? this.#written() : null;
  }

  /** True if the changes must be committed. A checkpoint alone can wait. */
  shouldCommit(commit: GenerationCommit): boolean {
    return (
      commit.writes.length > 0 || this.#failure !== null || commit.checkpoint - this.#saved >= idleCheckpointDistance
    );
  }

  /** Call it when the result of `fold` is stored, or need not be. */
  markCommitted(commit: GenerationCommit, stored: boolean): void {
    this.#position = commit.checkpoint;
    if (stored) this.#saved = commit.checkpoint;
    this.#uncommittedCharacters = 0;
    this.#fold.committed();
  }

  /** A checkpoint that is not stored yet; null if all is stored. */
  unsaved(): GenerationCommit | null {
    if (this.#saved === this.#position) return null;
    return this.#commitOf([], this.#position);
  }

  #isDue(): boolean {
    const hasMuch = this.#fold.full || this.#uncommittedCharacters >= maxUncommittedCharacters;
    return hasMuch || this.#fold.due || this.#failure !== null;
  }

  #handlesAnyOf({ types }: EventRun): boolean {
    for (const type of types) if (this.types.has(type)) return true;
    return false;
  }

  #touching(events: ReadonlyArray<RecordedEvent>): ReadonlyArray<TouchingEvent> {
    const touching: TouchingEvent[] = [];
    for (const event of events) {
      if (event.position <= this.#seen || !this.types.has(event.type)) continue;
      // The run ends before an event that cannot be read or whose keys cannot be computed.
      const touch = () => {
        ensureReadable(event);
        touching.push({ event, keys: this.#fold.keys(event) });
      };
      if (!this.#attempt(event, touch)) break;
    }
    return touching;
  }

  /** @returns false if the projection cannot handle the event and no operator has skipped it */
  #attempt(event: RecordedEvent, work: () => void): boolean {
    try {
      work();
      return true;
    } catch (error) {
      if (this.#isSkipped(event.id)) return true;
      this.#failure = eventFailure(event, error);
      return false;
    }
  }

  /** @returns false if the projection could not handle one */
  #applyAll(touching: ReadonlyArray<TouchingEvent>): boolean {
    for (const { event, keys } of touching) {
      const careful = event.position <= this.#carefulUpTo;
      if (!this.#attempt(event, () => this.#fold.apply(event, keys, careful))) return false;
      this.#seen = event.position;
    }
    return true;
  }

  /** @returns false if the folded documents could not be written */
  async #storeNow(store: Storing): Promise<boolean> {
    const commit = this.#written();
    if (commit === null) return false;
    if (commit.writes.length > 0) await store.commit([commit]);
    this.markCommitted(commit, commit.writes.length > 0);
    return true;
  }

  /** The folded documents; null if one of them cannot be written. Then nothing counts as folded. */
  #written(): GenerationCommit | null {
    try {
      return this.#commitOf(this.#fold.writes(), this.#seen);
    } catch {
      // The events are folded again, and each is checked, to find the one that made the document.
      this.#carefulUpTo = this.#seen;
      this.#seen = this.#position;
      this.#failure = null;
      this.#mustReplay = true;
      this.#fold.forget();
      return null;
    }
  }

  #commitOf(writes: GenerationCommit['writes'], checkpoint: number): GenerationCommit {
    const { holdsETags = false } = this.projection;
    return { generation: this.generation, writes, checkpoint, holdsETags };
  }

  /** @returns how many of the events have all their documents in memory: at least the first */
  async #load(touching: ReadonlyArray<TouchingEvent>, store: Storing): Promise<number> {
    let missing = this.#missing(touching);
    let room = maxLoadedCharacters;
    while (missing.length > 0) {
      const stored = await store.read(this.generation, missing, room);
      let taken = 0;
      for (const id of missing) {
        if (room <= 0) break;
        const document = stored.get(id) ?? null;
        this.#fold.remember(id, document);
        room -= document?.bytes ?? 0;
        taken += 1;
      }
      missing = missing.slice(taken);
      if (missing.length === 0) break;
      const unloaded = new Set(missing);
      const loaded = touching.findIndex(({ keys }) => keys.some((key) => unloaded.has(key)));
      if (loaded > 0) return loaded;
      // One event alone touches more than fits. It must be folded whole.
      room = maxLoadedCharacters;
    }
    return touching.length;
  }

  /**
   * The missing documents in the order of their first use. Documents that an event creates are known to later events.
   */
  #missing(touching: ReadonlyArray<TouchingEvent>): ReadonlyArray<string> {
    const missing = new Set<string>();
    const created = new Set<string>();
    for (const { event, keys } of touching) {
      for (const key of keys) {
        if (this.#fold.knows(key) || created.has(key)) continue;
        if (!missing.has(key) && this.#fold.creates(event)) created.add(key);
        else missing.add(key);
      }
    }
    return [...missing];
  }
}

/** The position of the last event before; 0 if there is none in the run. */
function lastBefore(position: number, events: ReadonlyArray<RecordedEvent>): number {
  return events.findLast((event) => event.position < position)?.position ?? 0;
}

type Storing = Pick<ReadStoreWriter, 'read' | 'commit'>;
