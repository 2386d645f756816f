import type { EventBatch } from '#event-store/event-store.ts';
import type { FollowOptions, LogTail } from '#event-store/log-tail.ts';
import type { GenerationCommit, ReadStoreWriter } from '#read-store/read-store.ts';
import { allSettled } from '#shared/async/all-settled.ts';
import { retrying } from '#shared/async/retrying.ts';
import { aborted } from '#shared/async/timed-waits.ts';
import type { Logger } from '#shared/logging/logger.ts';
import type { GenerationProjector } from './generation-projector.ts';

/** Maximum generations that read their documents at the same time. It bounds the memory of these. */
const foldsTogether = 6;

interface FoldedBatch {
  readonly projector: GenerationProjector;
  readonly commit: GenerationCommit;
  readonly due: boolean;
}

export interface ProjectionGroupOptions {
  readonly tail: Pick<LogTail, 'follow' | 'trail'>;
  /** Its name as a follower of the log. */
  readonly name: string;
  readonly store: ReadStoreWriter;
  readonly log: Logger;
  readonly batchSize: number;
  /** If false, each generation decides when to commit, and the end of the log is committed immediately. */
  readonly commitsEachBatch: () => boolean;
  readonly signal: AbortSignal;
  /** Runs one task at a time, across all groups: only one handles a batch. */
  readonly runExclusive: (work: () => Promise<void>) => Promise<void>;
  /** Called when the batch has been folded and stored. The next batch is read after this returns. */
  readonly onBatch: (batch: EventBatch) => Promise<void>;
  /** Called when a member could not handle an event, and was removed. */
  readonly onFailed: (projector: GenerationProjector) => Promise<void>;
  /** Called when a member must be fed again from its position, and was removed. */
  readonly onMustReplay: (projector: GenerationProjector) => void;
}

/** The types that the group reads; all events for a group without a member. */
export type GroupFilter = Pick<FollowOptions, 'types' | 'exceptTypes'>;

/** Generations that read the log together, as one follower. */
export class ProjectionGroup {
  readonly #options: ProjectionGroupOptions;
  readonly #members = new Set<GenerationProjector>();
  #position: number;
  #renewal = new AbortController();

  /** @param after the position after which it begins */
  constructor(after: number, options: ProjectionGroupOptions) {
    this.#position = after;
    this.#options = options;
  }

  /** The position up to which the log was read. Its members may not have stored everything yet. */
  get position(): number {
    return this.#position;
  }

  get members(): ReadonlySet<GenerationProjector> {
    return this.#members;
  }

  /** Adds a member. Events that it has seen are not fed to it again. */
  add(projector: GenerationProjector): void {
    this.#members.add(projector);
  }

  remove(projector: GenerationProjector): void {
    this.#members.delete(projector);
  }

  /** Begins again after the current batch. @param after the position after which the group then begins */
  renew(after: number): void {
    this.#position = after;
    this.#renewal.abort();
  }

  /** @throws an error that a retry does not cure */
  async run(filter: () => GroupFilter | null): Promise<void> {
    const { signal } = this.#options;
    while (!signal.aborted) {
      this.#renewal = new AbortController();
      const either = AbortSignal.any([signal, this.#renewal.signal]);
      const followed = filter();
      if (followed === null) await aborted(either);
      else await this.#follow(followed, either);
    }
  }

  async #follow(filter: GroupFilter, signal: AbortSignal): Promise<void> {
    const { tail, name, batchSize: maxEvents } = this.#options;
    const failed = new AbortController();
    const failures: unknown[] = [];
    const following = tail.follow({
      ...{ name, maxEvents, after: this.#position, signal: AbortSignal.any([signal, failed.signal]) },
      ...filter,
      handle: async (batch) => {
        this.#position = batch.position;
        await this.#options
          .runExclusive(() => this.#handle(batch, signal))
          .catch((error: unknown) => {
            // It counts even if the signal has aborted meanwhile.
            failures.push(error);
            failed.abort();
          });
      },
    });
    await following.ended;
    if (failures.length > 0) throw failures[0];
  }

  async #handle(batch: EventBatch, signal: AbortSignal): Promise<void> {
    // While the batch waited for its turn, generations may have joined that begin before it.
    if (signal.aborted) return;
    const projectors = [...this.#members];
    const folded = await this.#fold(projectors, batch);
    const commits = folded.filter(({ due }) => due).map(({ commit }) => commit);
    if (commits.length > 0) await this.#commit(commits, !batch.caughtUp);
    for (const { projector, commit, due } of folded) projector.markCommitted(commit, due);
    for (const projector of projectors) await this.#dropFailed(projector);
    await this.#options.onBatch(batch);
  }

  /** Folds into all generations at the same time, because each waits for a slow store. */
  async #fold(projectors: ReadonlyArray<GenerationProjector>, batch: EventBatch): Promise<ReadonlyArray<FoldedBatch>> {
    const store = { read: this.#read, commit: this.#commit };
    const run = { ...batch, types: new Set(batch.events.map(({ type }) => type)) };
    const mustCommit = batch.caughtUp || this.#options.commitsEachBatch();
    const commits = new Map<GenerationProjector, GenerationCommit>();
    const left = projectors.values();
    const foldLeft = async () => {
      for (const projector of left) {
        const commit = await projector.fold(run, mustCommit, store);
        if (commit !== null) commits.set(projector, commit);
      }
    };
    await allSettled(Array.from({ length: Math.min(foldsTogether, projectors.length) }, foldLeft));
    return projectors.flatMap((projector) => {
      const commit = commits.get(projector);
      return commit === undefined ? [] : [{ projector, commit, due: projector.shouldCommit(commit) }];
    });
  }

  /** Removes a member that has failed or must replay. */
  async #dropFailed(projector: GenerationProjector): Promise<void> {
    if (projector.failure === null && !projector.mustReplay) return;
    this.#members.delete(projector);
    if (projector.mustReplay) this.#options.onMustReplay(projector);
    else await this.#options.onFailed(projector);
  }

  readonly #read: ReadStoreWriter['read'] = (generation, ids, maxCharacters) =>
    retrying('Reading documents', () => this.#options.store.read(generation, ids, maxCharacters), this.#options);

  readonly #commit: ReadStoreWriter['commit'] = (commits, more) => {
    const { store, tail } = this.#options;
    const { read } = tail.trail;
    return retrying('Storing documents', () => store.commit(commits, more, read), this.#options);
  };
}
