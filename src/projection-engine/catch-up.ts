import { shortenedEventTypes } from '#domain/stream-kinds.ts';
import type { EventBatch, EventStore } from '#event-store/event-store.ts';
import { noIncompleteStreams } from '#read-store/incomplete-streams.ts';
import { clock } from '#shared/clock.ts';
import type { Logger } from '#shared/logging/logger.ts';
import type { GenerationProjector } from './generation-projector.ts';
import { type GroupFilter, ProjectionGroup, type ProjectionGroupOptions } from './projection-group.ts';
import {
  liveLimits,
  type Pace,
  type Persist,
  type ProjectionRuntime,
  rebuildProgress,
  runtimeOf,
} from './projection-runtime.ts';
import { StreamCheck } from './stream-check.ts';

/** Small, because live events wait for one batch at most. */
const rebuildBatchSize = 500;
/**
 * For this long after live events each batch is committed separately, so that callers who wait for the next ones wait
 * less.
 */
const liveQuietMs = 1000;

export type SharedGroupOptions = Omit<ProjectionGroupOptions, 'name' | 'batchSize' | 'commitsEachBatch' | 'onBatch'>;

export interface CatchUpOptions {
  readonly runtimes: ReadonlyArray<ProjectionRuntime>;
  readonly group: SharedGroupOptions;
  readonly events: Pick<EventStore, 'lastPosition'>;
  readonly persist: Persist;
  readonly onPublished: (runtime: ProjectionRuntime) => Promise<void>;
  readonly onLive: () => Promise<void>;
  readonly onBatch: () => Promise<void>;
}

/** Brings generations that lag to the end of the log, where they join those that follow it. */
export class GenerationCatchUp {
  readonly #live: ProjectionGroup;
  readonly #group: ProjectionGroup;
  readonly #options: CatchUpOptions;
  readonly #meter = new ThroughputMeter();
  readonly #report: RebuildLog;
  /** Checks streams while generations are built from the beginning of the log; null otherwise. */
  #check: StreamCheck | null = null;
  /** When live events were last folded. */
  #liveAt = Number.NEGATIVE_INFINITY;

  /** @param live the group that a generation joins when it has caught up */
  constructor(live: ProjectionGroup, options: CatchUpOptions) {
    this.#live = live;
    this.#options = options;
    this.#report = new RebuildLog(options.group.log);
    this.#group = new ProjectionGroup(0, {
      ...options.group,
      name: 'The filling of read models',
      batchSize: rebuildBatchSize,
      commitsEachBatch: () => clock.now() - this.#liveAt < liveQuietMs,
      onBatch: (batch) => this.#afterBatch(batch),
    });
  }

  /** The measured pace; null before the first measurement. */
  get pace(): Pace | null {
    return this.#meter.pace();
  }

  /** @throws an error that a retry does not cure */
  run(): Promise<void> {
    return this.#group.run(() => this.#filter());
  }

  /**
   * Adds generations, which are fed from their checkpoints. While one of them has not contained the whole log yet, the
   * log is read from its beginning, because only then the check of its streams is exact.
   */
  add(projectors: ReadonlyArray<GenerationProjector>): void {
    for (const projector of projectors) this.#group.add(projector);
    this.#check = this.#built.length === 0 ? null : new StreamCheck();
    this.#renew(this.#check === null ? this.#position : 0);
  }

  /** Continues generations from their checkpoints, after a failure. */
  retry(projectors: ReadonlyArray<GenerationProjector>): void {
    if (projectors.length === 0) return;
    for (const projector of projectors) projector.retry();
    this.add(projectors);
  }

  remove(projector: GenerationProjector): void {
    this.#group.remove(projector);
  }

  /** Call it when live events were folded. */
  noteLiveEvents(): void {
    this.#liveAt = clock.now();
  }

  /**
   * Reads the end of the log, to estimate the remaining time.
   * @throws what the store throws other than UnavailableError
   */
  async aim(): Promise<void> {
    const { events, persist } = this.#options;
    this.#meter.aim(await persist('Reading the log', () => events.lastPosition()));
  }

  #filter(): GroupFilter | null {
    const members = [...this.#group.members];
    if (members.length === 0) return null;
    const types = new Set(members.flatMap((member) => [...member.types]));
    if (this.#check === null) return { types: [...types] };
    return { exceptTypes: shortenedEventTypes.filter((type) => !types.has(type)) };
  }

  /** The generations that are built from the beginning of the log. */
  get #built(): ReadonlyArray<GenerationProjector> {
    return [...this.#group.members].filter(({ complete }) => !complete);
  }

  get #rebuilding(): ReadonlyArray<string> {
    const { runtimes } = this.#options;
    const filling = runtimes.filter((runtime) => runtime.filling !== null && runtime.filling.failure === null);
    return filling.map(({ projection }) => projection.name);
  }

  /** The position up to which every generation contains the log. */
  get #position(): number {
    const positions = [...this.#group.members].map(({ position }) => position);
    return positions.length === 0 ? this.#live.position : Math.min(...positions);
  }

  #renew(after: number): void {
    this.#meter.restart();
    this.#group.renew(after);
  }

  async #afterBatch(batch: EventBatch): Promise<void> {
    this.#meter.count(batch);
    // A generation that was added meanwhile begins a new check, which does not begin with this batch.
    if (this.#group.position === batch.position) this.#check?.add(batch.events, this.#built);
    this.#report.folded(batch, this.#rebuilding, this.pace);
    if (batch.caughtUp || batch.position >= this.#live.position) await this.#end(batch);
    if (this.#rebuilding.length === 0) this.#report.ended();
    await this.#options.onBatch();
  }

  async #end(batch: EventBatch): Promise<void> {
    for (const projector of [...this.#group.members]) {
      await this.#finish(projector);
      // More events may have arrived. A generation may join the live group only after it has seen what that group has
      // read.
      if (projector.position < this.#live.position) continue;
      if (this.#group.members.has(projector)) await this.#goLive(projector);
    }
    // A follower of some types does not report how far the log has grown; a new one does.
    if (this.#group.members.size === 0) this.#check = null;
    if (this.#group.members.size === 0 || batch.caughtUp) this.#renew(this.#position);
  }

  async #finish(projector: GenerationProjector): Promise<void> {
    if (projector.finished) return;
    const { group, persist } = this.#options;
    await persist('Indexing a read model', () => group.store.finish(projector.generation));
    projector.finished = true;
  }

  async #goLive(projector: GenerationProjector): Promise<void> {
    // From here on it is in the live group, so it misses no event until it is published.
    this.#group.remove(projector);
    this.#live.add(projector);
    projector.caughtUp = true;
    projector.limit(liveLimits);
    if (!projector.complete) await this.#publish(projector);
    await this.#options.onLive();
  }

  async #publish(projector: GenerationProjector): Promise<void> {
    const { runtimes, group, persist, onPublished } = this.#options;
    const runtime = runtimeOf(projector, runtimes);
    await persist('Publishing a read model', () => group.store.publish(projector.generation));
    projector.complete = true;
    if (runtime.current !== null) this.#forget(runtime.current);
    runtime.current = projector;
    runtime.previous = null;
    runtime.filling = null;
    runtime.incompleteStreams = this.#check?.foundBy(projector) ?? noIncompleteStreams;
    this.#report.built(runtime.projection.name);
    await onPublished(runtime);
  }

  #forget(projector: GenerationProjector): void {
    this.#live.remove(projector);
    this.#group.remove(projector);
  }
}

const progressIntervalMs = 5000;

interface Pass {
  readonly startedAt: number;
  readonly built: string[];
  events: number;
  hasReportedStart: boolean;
  reportedAt: number;
}

/**
 * Writes log lines about rebuilds: one when the first begins, one every few seconds with the progress, and one when all
 * are done. It writes nothing when there was nothing to rebuild.
 */
export class RebuildLog {
  readonly #log: Logger;
  #pass: Pass | null = null;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** @param projections that are being rebuilt */
  folded(batch: EventBatch, projections: ReadonlyArray<string>, pace: Pace | null): void {
    if (projections.length === 0) return;
    const now = clock.now();
    this.#pass ??= { startedAt: now, built: [], events: 0, hasReportedStart: false, reportedAt: now };
    this.#pass.events += batch.events.length;
    if (batch.caughtUp) return;
    if (!this.#pass.hasReportedStart) {
      this.#pass.hasReportedStart = true;
      this.#log.info({ projections }, 'Read models are being built');
    } else if (now - this.#pass.reportedAt >= progressIntervalMs && pace !== null) {
      this.#pass.reportedAt = now;
      const { position, target, ...speed } = rebuildProgress(batch.position, pace);
      const percent = Math.floor((100 * position) / Math.max(1, target));
      this.#log.info({ percent, ...speed }, 'Read models are being built');
    }
  }

  built(projection: string): void {
    this.#pass?.built.push(projection);
  }

  ended(): void {
    const pass = this.#pass;
    this.#pass = null;
    if (pass === null || pass.events === 0 || pass.built.length === 0) return;
    const seconds = Math.round((clock.now() - pass.startedAt) / 100) / 10;
    this.#log.info({ projections: pass.built, events: pass.events, seconds }, 'Read models are built');
  }
}

/** Measures the throughput since the last rebuild was begun. */
export class ThroughputMeter {
  #startedAt = 0;
  #from: number | null = null;
  #events = 0;
  #position = 0;
  #target = 0;

  restart(): void {
    this.#from = null;
  }

  count(batch: EventBatch): void {
    if (this.#from === null) {
      // The first batch gives the start position. How long it took to read is not known.
      this.#from = batch.position;
      this.#startedAt = clock.now();
      this.#events = 0;
    } else {
      this.#events += batch.events.length;
    }
    this.#position = batch.position;
  }

  aim(target: number): void {
    this.#target = target;
  }

  pace(): Pace | null {
    if (this.#from === null) return null;
    const seconds = Math.max(0.001, (clock.now() - this.#startedAt) / 1000);
    const eventsPerSecond = this.#events / seconds;
    return { target: this.#target, eventsPerSecond, positionsPerSecond: (this.#position - this.#from) / seconds };
  }
}
