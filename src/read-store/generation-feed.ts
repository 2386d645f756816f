import type { RecordedEvent } from '#event-store/event-store.ts';
import { Fold, type FoldLimits } from '#read-store/fold.ts';
import { IdFilter } from '#read-store/id-filter.ts';
import { type AnyProjection, typesOf } from '#read-store/projection.ts';
import type { Generation, GenerationCommit, ProjectionStatus, ReadStoreWriter } from '#read-store/read-store.ts';

/** How far an idle generation's checkpoint may lie behind what it has seen: what a restart sees again. */
const idleCheckpointDistance = 10_000;

interface TouchingEvent {
  readonly event: RecordedEvent;
  readonly keys: ReadonlyArray<string>;
}

/** One generation of a projection as events are fed to it. */
export class GenerationFeed {
  readonly projection: AnyProjection;
  readonly generation: Generation;
  readonly types: ReadonlySet<string>;
  readonly #fold: Fold;
  /** What may be stored of a generation that was empty at the start: what is not in it need not be looked for. */
  readonly #stored: IdFilter | null;
  readonly #skipped: ReadonlySet<string>;
  #position: number;
  /** The position up to which it was folded, be it in memory only. */
  #seen: number;
  #saved: number;
  #failure: ProjectionStatus['failure'] = null;
  /** It has held the whole log once, in this process or, for a complete generation, ever. */
  complete: boolean;
  /** Its indexes all stand. */
  finished: boolean;
  /** It has seen the end of the log in this process. */
  caughtUp = false;

  /** @param skipped ids of events to leave out when the projection cannot take them; it may grow */
  constructor(projection: AnyProjection, generation: Generation, skipped: ReadonlySet<string>, limits: FoldLimits) {
    this.projection = projection;
    this.generation = generation;
    this.types = new Set(typesOf(projection));
    this.complete = generation.complete;
    this.finished = generation.complete;
    this.#fold = new Fold(projection, limits);
    this.#skipped = skipped;
    this.#stored = generation.checkpoint === 0 ? new IdFilter() : null;
    this.#position = generation.checkpoint;
    this.#seen = generation.checkpoint;
    this.#saved = generation.checkpoint;
  }

  /** The position up to which its stored documents hold the log. */
  get position(): number {
    return this.#position;
  }

  /** The event that it could not take: it is fed no more until `retry`. */
  get failure(): ProjectionStatus['failure'] {
    return this.#failure;
  }

  /** Changes how much of it is kept in memory. */
  limit(limits: FoldLimits): void {
    this.#fold.limit(limits);
  }

  /** Lets it be fed again, from the event that it could not take. */
  retry(): void {
    this.#failure = null;
    this.caughtUp = false;
  }

  /**
   * Folds a run of the log, up to the first event that the projection cannot take (then `failure` says which).
   * @param events in order; those it has seen already and those of other types are passed over
   * @param upTo the position up to which `events` holds the log
   * @param last whether what was folded is to be given out now; else it waits in memory for a later run
   * @returns what to commit, if it is time; call `settle` with it when that is done, or can wait
   */
  async fold(
    events: ReadonlyArray<RecordedEvent>,
    upTo: number,
    last: boolean,
    store: Reading,
  ): Promise<GenerationCommit | null> {
    const touching = this.#touching(events);
    await this.#load(touching, store);
    for (const { event, keys } of touching) if (!this.#take(event, () => this.#fold.apply(event, keys))) break;
    const taken = this.#failure === null ? upTo : lastBefore(this.#failure.position, events);
    this.#seen = Math.max(taken, this.#seen);
    if (!last && this.#failure === null) return null;
    return { generation: this.generation, writes: this.#fold.writes(), checkpoint: this.#seen };
  }

  /** Whether what `fold` gave must be stored now; a checkpoint alone can wait. */
  due(commit: GenerationCommit): boolean {
    return (
      commit.writes.length > 0 || this.#failure !== null || commit.checkpoint - this.#saved >= idleCheckpointDistance
    );
  }

  /** What `fold` gave is stored, or need not be. */
  settle(commit: GenerationCommit, stored: boolean): void {
    this.#position = commit.checkpoint;
    if (stored) this.#saved = commit.checkpoint;
    for (const write of commit.writes) if (write.kind === 'put') this.#stored?.add(write.id);
    this.#fold.committed();
  }

  /** A checkpoint that was put off; null when it is stored. */
  unsaved(): GenerationCommit | null {
    if (this.#saved === this.#position) return null;
    return { generation: this.generation, writes: [], checkpoint: this.#position };
  }

  #touching(events: ReadonlyArray<RecordedEvent>): ReadonlyArray<TouchingEvent> {
    const touching: TouchingEvent[] = [];
    for (const event of events) {
      if (event.position <= this.#seen || !this.types.has(event.type)) continue;
      // Where its keys cannot be told the run ends: what stands before it is folded all the same.
      if (!this.#take(event, () => touching.push({ event, keys: this.#fold.keys(event) }))) break;
    }
    return touching;
  }

  /** @returns false when the projection cannot take the event and nobody has said to leave it out */
  #take(event: RecordedEvent, work: () => void): boolean {
    try {
      work();
      return true;
    } catch (error) {
      if (this.#skipped.has(event.id)) return true;
      const message = error instanceof Error ? error.message : String(error);
      this.#failure = { eventId: event.id, eventType: event.type, position: event.position, message };
      return false;
    }
  }

  async #load(touching: ReadonlyArray<TouchingEvent>, store: Reading): Promise<void> {
    const missing = new Set<string>();
    for (const { keys } of touching) {
      for (const key of keys) {
        if (this.#fold.knows(key)) continue;
        if (this.#stored?.mayHave(key) === false) this.#fold.remember(key, null);
        else missing.add(key);
      }
    }
    if (missing.size === 0) return;
    const ids = [...missing];
    const stored = await store.read(this.generation, ids);
    for (const id of ids) this.#fold.remember(id, stored.get(id) ?? null);
  }
}

/** The position of the last event before a position; 0 if there is none in the run. */
function lastBefore(position: number, events: ReadonlyArray<RecordedEvent>): number {
  return events.findLast((event) => event.position < position)?.position ?? 0;
}

type Reading = Pick<ReadStoreWriter, 'read'>;
