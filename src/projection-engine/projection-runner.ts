import type { EventBatch, EventStore } from '#event-store/event-store.ts';
import type { LogTail } from '#event-store/log-tail.ts';
import { noIncompleteStreams } from '#read-store/incomplete-streams.ts';
import type { ServedPosition } from '#read-store/published-positions.ts';
import type { OperatorState, ProjectionStatus, ReadStoreWriter } from '#read-store/read-store.ts';
import { type RetryOptions, retrying } from '#shared/async/retrying.ts';
import { abortable } from '#shared/async/timed-waits.ts';
import { clock } from '#shared/clock.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { GenerationCatchUp, type SharedGroupOptions } from './catch-up.ts';
import type { GenerationProjector } from './generation-projector.ts';
import { OperatorCommands, OperatorProgress } from './operator-progress.ts';
import type { AnyProjection } from './projection.ts';
import { ProjectionGroup } from './projection-group.ts';
import { GenerationStarter, type Persist, ProjectionRuntime, runtimeOf } from './projection-runtime.ts';

/** Maximum lag in positions. A larger lag catches up separately, so that it does not delay the other projections. */
const liveWindow = 10_000;
const liveBatchSize = 1000;
const statusIntervalMs = 500;

export interface ProjectionRunnerOptions {
  readonly projections: ReadonlyArray<AnyProjection>;
  readonly events: Pick<EventStore, 'read' | 'lastPosition'>;
  readonly tail: LogTail;
  /** Events of other types are counted. Default: every type is known. */
  readonly knownTypes?: ReadonlyArray<string>;
  /** The runner is its only writer. */
  readonly store: ReadStoreWriter;
  readonly log: Logger;
  /** Ends the runner, as `close` does, even while it is starting. */
  readonly signal?: AbortSignal;
  readonly onPositions?: () => void;
  /** Called for changes in more than positions, and twice a second while something is rebuilt. */
  readonly onStatus?: () => void;
}

/**
 * Starts feeding the log to projections. An unchanged projection continues from its checkpoint. A projection that is
 * new, changed or to be rebuilt is filled next to the documents that queries read, and swapped in when it has caught
 * up.
 * @returns a runner whose positions are known, or one that has ended because the signal has aborted
 * @throws what the stores throw other than UnavailableError, which is retried
 */
export async function startProjectionRunner(options: ProjectionRunnerOptions): Promise<ProjectionRunner> {
  const runner = new ProjectionRunner(options);
  await runner.start();
  return runner;
}

export class ProjectionRunner {
  readonly #options: ProjectionRunnerOptions;
  readonly #closing = new AbortController();
  readonly #signal: AbortSignal;
  readonly #retry: RetryOptions;
  readonly #runtimes: ReadonlyArray<ProjectionRuntime>;
  /** The ids of the events that every projection skips. */
  readonly #skippedByAll = new Set<string>();
  readonly #operator: OperatorProgress;
  readonly #commands: OperatorCommands;
  readonly #generations: GenerationStarter;
  readonly #live: ProjectionGroup;
  readonly #catchUp: GenerationCatchUp;
  #starting = true;
  #turn: Promise<void> = Promise.resolve();
  #statusAt = 0;
  statusChanges = 0;
  finished: Promise<void> = Promise.resolve();

  constructor(options: ProjectionRunnerOptions) {
    this.#options = options;
    const { signal = this.#closing.signal } = options;
    this.#signal = AbortSignal.any([signal, this.#closing.signal]);
    this.#retry = { log: options.log, signal: this.#signal };
    this.#runtimes = options.projections.map((projection) => new ProjectionRuntime(projection, [], this.#skippedByAll));
    this.#operator = new OperatorProgress(this.#runtimes, {
      ...options,
      signal: this.#signal,
      persist: this.#persist,
      apply: (request) => this.#commands.apply(request),
      onApplied: () => this.#reportStatus(),
    });
    this.#generations = new GenerationStarter({ store: options.store, persist: this.#persist });
    this.#live = this.#createLiveGroup();
    this.#catchUp = this.#createCatchUp();
    this.#commands = new OperatorCommands({
      runtimes: this.#runtimes,
      skippedByAll: this.#skippedByAll,
      generations: this.#generations,
      catchUp: this.#catchUp,
      lastPosition: () => this.#lastPosition(),
    });
  }

  #createLiveGroup(): ProjectionGroup {
    return new ProjectionGroup(0, {
      ...this.#groupOptions(),
      name: 'The projections',
      batchSize: liveBatchSize,
      commitsEachBatch: () => true,
      onBatch: (batch) => this.#afterLiveBatch(batch),
    });
  }

  #createCatchUp(): GenerationCatchUp {
    return new GenerationCatchUp(this.#live, {
      runtimes: this.#runtimes,
      events: this.#options.events,
      group: this.#groupOptions(),
      persist: this.#persist,
      onPublished: (runtime) => this.#published(runtime),
      onLive: () => this.#reportStatus(),
      onBatch: () => this.#afterCatchUpBatch(),
    });
  }

  #groupOptions(): SharedGroupOptions {
    const { tail, store, log } = this.#options;
    return {
      tail,
      store,
      log,
      signal: this.#signal,
      onFailed: (projector) => this.#stopped(projector),
      onMustReplay: (projector) => this.#catchUp.retry([projector]),
      runExclusive: (work) => this.#runExclusive(work),
    };
  }

  status(): ReadonlyArray<ProjectionStatus> {
    const { pace } = this.#catchUp;
    return this.#runtimes.map((runtime) => runtime.status(pace));
  }

  positions(): ReadonlyArray<ServedPosition> {
    return this.#runtimes.map(({ served }) => served);
  }

  /** True if every projection has seen the end of the log since the start, or has stopped. */
  ready(): boolean {
    return this.#runtimes.every(({ settled }) => settled);
  }

  async start(): Promise<void> {
    try {
      await this.#openAll();
    } catch (error) {
      if (this.#signal.aborted) return;
      throw error;
    }
    this.#starting = false;
    this.finished = this.#run();
    // The caller may await `finished` later; until then a rejection must not count as unhandled.
    this.finished.catch(() => undefined);
  }

  /** Finishes the current batch, and stores the checkpoints. The store stays open. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.finished;
  }

  async #openAll(): Promise<void> {
    const { store } = this.#options;
    const end = await this.#lastPosition();
    // On a slow store each call that waits for another one delays the first event.
    const [operator] = await Promise.all([
      this.#operator.load(end),
      this.#persist('Dropping old read models', () =>
        store.dropOthers(this.#runtimes.map(({ projection }) => projection.name)),
      ),
    ]);
    for (const { data } of await this.#operator.skippedEvents()) this.#skippedByAll.add(data.eventId);
    for (const runtime of this.#runtimes) await this.#open(runtime, operator, end);
    await this.#operator.applyPast(end);
    await this.#operator.noteMade(
      this.#runtimes.filter(({ projection }) => !this.#operator.isFromOtherLog(projection.name)),
    );
    this.#assignGroups(end);
    await this.#reportStatus();
  }

  async #open(runtime: ProjectionRuntime, { skipped, incompleteStreams }: OperatorState, end: number): Promise<void> {
    const { name } = runtime.projection;
    for (const id of skipped[name] ?? []) runtime.skipped.add(id);
    runtime.incompleteStreams = incompleteStreams?.[name] ?? noIncompleteStreams;
    await this.#generations.open(runtime, { end, isFromOtherLog: this.#operator.isFromOtherLog(name) });
  }

  /** Projections near the newest position follow the log together. The others catch up. */
  #assignGroups(end: number): void {
    const current = this.#runtimes.flatMap((runtime) => (runtime.current === null ? [] : [runtime.current]));
    const newest = current.reduce((position, projector) => Math.max(position, projector.position), 0);
    const near = current.filter(({ position }) => position >= newest - liveWindow);
    this.#live.renew(near.reduce((position, projector) => Math.min(position, projector.position), end));
    for (const projector of near) this.#live.add(projector);
    this.#catchUp.add(
      this.#runtimes.flatMap(({ projectors }) => projectors).filter((projector) => !near.includes(projector)),
    );
  }

  async #run(): Promise<void> {
    try {
      await Promise.all([this.#live.run(() => ({})), this.#catchUp.run(), this.#operator.countPast()]);
      await this.#saveCheckpoints();
    } catch (error) {
      const closing = this.#signal.aborted;
      this.#closing.abort();
      // After a restart, unstored documents are folded again from the checkpoints.
      if (!closing || !(error instanceof UnavailableError)) throw error;
    }
  }

  async #afterLiveBatch(batch: EventBatch): Promise<void> {
    if (batch.events.length > 0) this.#catchUp.noteLiveEvents();
    let settled = true;
    for (const projector of this.#live.members) {
      settled &&= projector.caughtUp;
      projector.caughtUp ||= batch.caughtUp;
    }
    this.#options.onPositions?.();
    if (this.#operator.seesFirst(batch.events))
      await this.#operator.noteMade(this.#runtimes.filter(({ current }) => current !== null));
    await this.#operator.applyBatch(batch);
    if (!settled && batch.caughtUp) await this.#reportStatus();
  }

  async #afterCatchUpBatch(): Promise<void> {
    this.#options.onPositions?.();
    if (clock.now() - this.#statusAt < statusIntervalMs) return;
    await this.#catchUp.aim();
    await this.#reportStatus();
  }

  async #published(runtime: ProjectionRuntime): Promise<void> {
    await this.#operator.noteBuilt(runtime);
    const { count, first } = runtime.incompleteStreams;
    if (count === 0) return;
    this.#options.log.error(
      { projection: runtime.projection.name, count, first },
      'A read model was built from streams that lack events: what it shows of their resources is not whole',
    );
  }

  async #stopped(projector: GenerationProjector): Promise<void> {
    const runtime = runtimeOf(projector, this.#runtimes);
    this.#options.log.error(
      { projection: runtime.projection.name, ...projector.failure },
      'A projection has stopped at an event that it cannot handle: retry it, or skip the event',
    );
    await this.#reportStatus();
  }

  #lastPosition(): Promise<number> {
    return this.#persist('Reading the log', () => this.#options.events.lastPosition());
  }

  async #saveCheckpoints(): Promise<void> {
    const projectors = this.#runtimes.flatMap((runtime) => runtime.projectors);
    const commits = projectors.map((projector) => projector.unsaved()).filter((commit) => commit !== null);
    const { store, tail } = this.#options;
    await store.commit(commits, false, tail.trail.read);
    await store.saveStatus(this.status());
  }

  async #reportStatus(): Promise<void> {
    this.#statusAt = clock.now();
    this.#options.onStatus?.();
    await this.#persist('Storing the status', () => this.#options.store.saveStatus(this.status()));
    this.statusChanges += 1;
    this.#options.onPositions?.();
  }

  /**
   * Runs one task at a time, so that no generation is dropped while the other group is storing to it. A task is left only
   * together with its runner, because each continues where the last one has stored: its calls are refused with the end
   * of the term or of the thread, and no later task begins.
   */
  #runExclusive(work: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  readonly #persist: Persist = (what, call) => {
    if (!this.#starting) return retrying(what, call, this.#retry);
    // During the start there is no running batch to finish.
    return abortable(this.#signal, () => retrying(what, call, this.#retry));
  };
}
