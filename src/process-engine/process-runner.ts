import { setMaxListeners } from 'node:events';
import type { EventFailure } from '#domain/shared/event-failure.ts';
import type { EventStore, RecordedEvent } from '#event-store/event-store.ts';
import { ensureReadable } from '#event-store/lazy-event.ts';
import { identityOfLog } from '#event-store/log-identity.ts';
import { UnreadableEventError } from '#event-store/unreadable-event-error.ts';
import { BackOff } from '#shared/async/back-off.ts';
import { delay } from '#shared/async/delay.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { CheckpointKeeper } from './checkpoints/checkpoint-keeper.ts';
import { type Checkpoint, type CheckpointStore, startOfLog } from './checkpoints/checkpoint-store.ts';
import { createProcessTools, type ProcessToolsOptions, type ReactionContext } from './create-process-tools.ts';
import { MetStreams } from './met-streams.ts';
import { mayHandle, type Process, type ProcessTools } from './process.ts';
import type { ProcessPositions } from './process-positions.ts';
import { ProcessedPositions } from './processed-positions.ts';
import { type Aside, inPlace, notInOrder, Reactions, retryLimits } from './reactions.ts';
import { ReadModelBehindError } from './read-model-behind-error.ts';
import { StoppedEvents } from './stopped-events.ts';

export interface ProcessRunnerOptions extends Omit<ProcessToolsOptions, 'store' | 'log'> {
  readonly process: Process;
  readonly store: EventStore;
  readonly checkpoints: CheckpointStore;
  /**
   * The interval in which it stores a position that it has passed without an append. Default: 1 s, and 100 ms for a
   * process with `concurrency`.
   */
  readonly checkpointIntervalMs?: number;
  /** Receives its positions and appends. */
  readonly report?: ProcessPositions;
  readonly log: Pick<Logger, 'info' | 'error'>;
}

/**
 * After a restart the process sees at most so many milliseconds of events again that led to no append. The metric of
 * its lag is as exact.
 */
const passedIntervalMs = 1_000;
/** Reactions that ended so shortly before a crash are repeated. */
const concurrentIntervalMs = 100;

/**
 * Runs one process. By default it handles events in order, one at a time, and retries each until it succeeds; then it
 * moves the checkpoint. A process with `concurrency` handles several events at once, and its checkpoint stays before
 * the oldest unfinished one. The process stops at an event that cannot be read, and waits for an operator's decision.
 */
export class ProcessRunner {
  readonly #options: ProcessRunnerOptions;
  readonly #stopped = new AbortController();
  readonly #positions = new ProcessedPositions();
  readonly #backOff = new BackOff(retryLimits);
  /** Whether the log already says that the process waits for a read model. */
  #isWaiting = false;
  /** The identity of the log that it follows. */
  #log = '';
  #lastAppended = 0;
  #position = 0;
  /** The first event at which the process has stopped; null while it runs. */
  #failure: EventFailure | null = null;
  #running: Promise<void> | undefined;

  constructor(options: ProcessRunnerOptions) {
    this.#options = options;
  }

  /** Starts the process on the only node that runs it. */
  start(): void {
    this.#reportPosition();
    this.#running = this.run(this.#stopped.signal);
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
    this.#positions.close();
  }

  /**
   * Waits until the process has reacted to every event up to a position.
   * @returns the position of the last event that the process itself has appended; null after the time limit, or if the
   *   process has stopped
   */
  waitUntilProcessed(position: number, milliseconds: number): Promise<number | null> {
    return this.#positions.passed(position, milliseconds);
  }

  /**
   * Runs until the signal aborts. An append in flight is finished first.
   * @throws FencedError if another node runs the process now
   */
  async run(signal: AbortSignal): Promise<void> {
    try {
      while (!signal.aborted) await this.#followOnce(signal);
    } finally {
      this.#options.report?.set(this.#options.process.name, null);
    }
  }

  async #followOnce(signal: AbortSignal): Promise<void> {
    try {
      await this.#follow(signal);
    } catch (error) {
      if (error instanceof FencedError) throw error;
      if (signal.aborted) return;
      const retryDelayMs = this.#backOff.failed();
      this.#logFailure(error, retryDelayMs);
      await delay(retryDelayMs, signal);
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { process, store } = this.#options;
    const log = await identityOfLog(store, signal);
    if (log === null) return;
    const after = await this.#loadStartPosition(log);
    this.#failure = null;
    this.#pass(after);
    const failed = new AbortController();
    const ending = AbortSignal.any([signal, failed.signal]);
    const keeper = this.#newKeeper(after, () => failed.abort());
    try {
      if (process.concurrency === undefined) await this.#followInOrder(after, keeper, ending);
      else await this.#followConcurrently(after, process.concurrency, keeper, ending);
    } finally {
      await keeper.end();
    }
  }

  /** @param onFailure is called when a checkpoint cannot be written */
  #newKeeper(after: number, onFailure: () => void): CheckpointKeeper {
    const { process, checkpointIntervalMs } = this.#options;
    return new CheckpointKeeper({
      stored: this.#checkpointAt(after),
      write: (checkpoint) => this.#write(checkpoint),
      intervalMs: checkpointIntervalMs ?? (process.concurrency === undefined ? passedIntervalMs : concurrentIntervalMs),
      onFailure,
    });
  }

  async #followInOrder(after: number, keeper: CheckpointKeeper, signal: AbortSignal): Promise<void> {
    const { process, store } = this.#options;
    const stopped = this.#stoppedEvents(after, signal);
    const met = new MetStreams(process, after === startOfLog.position);
    try {
      for await (const batch of store.subscribe({ after, types: process.types, signal })) {
        for (const event of batch.events.filter((event) => mayHandle(process, event))) {
          if (signal.aborted) return;
          const appendedBefore = this.#lastAppended;
          await this.#handle(event, () => this.#toolsFor(event, signal, { met }), stopped);
          met.add(event);
          // After a crash the process may see an event again that led to no append.
          if (this.#lastAppended !== appendedBefore) await keeper.store(this.#checkpointAt(event.position));
          this.#passAndKeep(event.position, keeper);
        }
        this.#passAndKeep(batch.position, keeper);
      }
    } finally {
      await stopped.close();
    }
  }

  #passAndKeep(position: number, keeper: CheckpointKeeper): void {
    keeper.move(this.#checkpointAt(position));
    this.#pass(position);
  }

  #stoppedEvents(after: number, signal: AbortSignal): StoppedEvents {
    const { process, store, checkpoints, log } = this.#options;
    const keep = async (failure: EventFailure | null) => {
      await checkpoints.writeFailure(process.name, this.#log, failure);
      this.#failure = failure;
      this.#pass(this.#position);
    };
    return new StoppedEvents({ process: process.name, store, after, keep, log, signal });
  }

  /**
   * Reacts to an event. If the event, or one that the reaction needs, cannot be read, an operator decides whether to
   * retry or to skip it.
   */
  async #handle(event: RecordedEvent, tools: () => ProcessTools, stopped: StoppedEvents, aside: Aside = inPlace) {
    for (;;) {
      try {
        ensureReadable(event);
        return await this.#options.process.handle(event, tools());
      } catch (error) {
        if (!(error instanceof UnreadableEventError)) throw error;
        if ((await aside(() => stopped.verdict(event, error))) === 'skip') return;
      }
    }
  }

  /** @returns the position after which it continues; the beginning if its checkpoint is of another log */
  async #loadStartPosition(log: string): Promise<number> {
    const { process, store, checkpoints } = this.#options;
    if (log !== this.#log) this.#lastAppended = 0;
    this.#log = log;
    const checkpoint = await checkpoints.read(process.name, log);
    if (checkpoint.position <= (await store.lastPosition())) {
      this.#lastAppended = Math.max(this.#lastAppended, checkpoint.lastAppended);
      return checkpoint.position;
    }
    // A log that ends before the checkpoint may have been restored from a backup. The events after that may differ
    // from those that the process has seen.
    await checkpoints.reset(process.name, log);
    this.#lastAppended = startOfLog.lastAppended;
    return startOfLog.position;
  }

  async #followConcurrently(
    after: number,
    concurrency: number,
    keeper: CheckpointKeeper,
    stopped: AbortSignal,
  ): Promise<void> {
    const { process, store } = this.#options;
    const failed = new AbortController();
    const signal = AbortSignal.any([stopped, failed.signal]);
    // Every paused reaction listens to this signal.
    setMaxListeners(0, signal);
    const moved = () => this.#passAndKeep(reactions.passed, keeper);
    const stoppedEvents = this.#stoppedEvents(after, signal);
    const reactions: Reactions = new Reactions(after, {
      concurrency,
      handle: (event, pauseUntil, aside) =>
        this.#handle(event, () => this.#toolsFor(event, signal, { pauseUntil }), stoppedEvents, aside),
      onEnd: moved,
      onFailure: (error, retryDelayMs) => this.#logFailure(error, retryDelayMs),
      signal,
    });
    try {
      for await (const batch of store.subscribe({ after, types: process.types, signal })) {
        for (const event of batch.events) if (mayHandle(process, event)) await reactions.begin(event);
        if (signal.aborted) break;
        reactions.see(batch.position);
        moved();
      }
    } finally {
      // This also holds after a failed subscription: no reaction may start again while its first run continues.
      failed.abort();
      await reactions.ended();
      await stoppedEvents.close();
    }
  }

  async #write(checkpoint: Checkpoint): Promise<void> {
    const { checkpoints, process } = this.#options;
    await checkpoints.write(process.name, this.#log, checkpoint);
    // The checkpoint has moved, so the next failure counts as a first one.
    this.#isWaiting = false;
    this.#backOff.succeeded();
  }

  #logFailure(error: unknown, retryDelayMs: number): void {
    const { log, process } = this.#options;
    if (error instanceof ReadModelBehindError) {
      // Every attempt ends like this while read models are filled. That is no failure, and one line in the log is
      // enough.
      if (!this.#isWaiting)
        log.info({ process: process.name, readModel: error.collection }, 'waiting for a read model');
      this.#isWaiting = true;
      this.#reportPosition();
      return;
    }
    log.error({ err: error, process: process.name, retryDelayMs }, 'a process will try again');
  }

  #pass(position: number): void {
    if (position > this.#position) this.#isWaiting = false;
    this.#position = position;
    this.#positions.update({ ...this.#checkpointAt(position), failure: this.#failure });
    this.#reportPosition();
  }

  #reportPosition(): void {
    const live = this.#failure === null && !this.#isWaiting;
    this.#options.report?.set(this.#options.process.name, { position: this.#position, live });
  }

  #checkpointAt(position: number): Checkpoint {
    return { position, lastAppended: this.#lastAppended };
  }

  #toolsFor(
    cause: RecordedEvent,
    signal: AbortSignal,
    { pauseUntil = notInOrder, met = null }: Partial<Pick<ReactionContext, 'pauseUntil' | 'met'>>,
  ): ProcessTools {
    const onAppended = (position: number) => {
      this.#lastAppended = Math.max(this.#lastAppended, position);
      this.#options.report?.recordEffect(this.#options.process.name, cause.position, position);
    };
    return createProcessTools(this.#options, { cause, signal, pauseUntil, met, onAppended });
  }
}
