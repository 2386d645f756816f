import { type EventFailure, eventFailure } from '#domain/event-failure.ts';
import type { EventBatch, EventStore, RecordedEvent } from '#event-store/event-store.ts';
import type { Following, LogTail } from '#event-store/log-tail.ts';
import { ensureReadable } from '#event-store/recorded-event.ts';
import { type ProcessCheckpoint, startOfLog } from '#positions/position-poll.ts';
import type { FollowedPosition, PassedOptions } from '#positions/positions.ts';
import { runFor, serviceOwner } from '#shared/async/fair-queue.ts';
import { delay } from '#shared/async/timed-waits.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { SeenStreams } from './cascade.ts';
import { createProcessTools, type ProcessToolsOptions } from './create-process-tools.ts';
import { OwnWrites } from './own-writes.ts';
import { mayHandle, type Process, type ProcessTools } from './process.ts';
import type { OperatorDecision, ProcessRequests } from './process-requests.ts';
import { type FailureReason, ReactionFailures, reasonOf } from './reaction-failures.ts';
import { type PauseUntil, pauseUnsupported, Reactions, type WithoutSlot, withSlot } from './reactions.ts';

export interface ProcessRunOptions extends Omit<ProcessToolsOptions, 'log'> {
  readonly process: Process;
  readonly checkpoint: ProcessCheckpoint;
  /** The position from which on callers wait for the process. */
  readonly liveFrom: number;
  readonly tail: Pick<LogTail, 'follow'>;
  readonly requests: ProcessRequests;
  readonly store: Pick<EventStore, 'lastPosition'>;
  /** The end of the log when the term began. */
  readonly endAtStart: number;
  /** @returns false after the time limit, and if the signal aborts */
  readonly waitForPosition: (
    collection: string,
    position: number,
    limits: Required<Pick<PassedOptions, 'ms' | 'signal'>>,
  ) => Promise<boolean>;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Called when the process has handled events, has stopped, waits, or continues. */
  readonly onChange: (change: 'passed' | 'state') => void;
  /** @param cause the position of the event that led to the append */
  readonly onAppended: (cause: number, appended: number) => void;
  readonly saved: () => Promise<void>;
  /** Called for a failure that is none of the reaction's. */
  readonly onFailure: (error: unknown) => void;
}

/** A reaction waits this long for a read model before its process counts as waiting. */
const shortWaitMs = 2_000;
/**
 * The time between two looks from then on. Long waits would make this node poll shared stores while a read model has
 * stopped.
 */
const lookIntervalMs = 250;

/**
 * One process during a term of its host. By default it handles events in order, one at a time, and retries each until
 * it succeeds. A process with `concurrency` handles several events at the same time, and its checkpoint stays before
 * the oldest unfinished one. It stops at an event that cannot be read, and at one whose reaction has failed too often,
 * and waits for an operator's decision.
 */
export class ProcessRun {
  readonly #options: ProcessRunOptions;
  readonly #seen: SeenStreams;
  readonly #ownWrites: OwnWrites;
  /** Null for a process that handles events in order. */
  readonly #reactions: Reactions | null;
  readonly #stopped = new Map<string, EventFailure>();
  readonly #failing = new Set<string>();
  /** What reactions wait for, by the events' ids. */
  readonly #waiting = new Map<string, string>();
  /** The failure of the term before, until this term has come to the same event. */
  #inherited: Pick<ProcessCheckpoint, 'failure' | 'waitingFor'>;
  #position: number;
  #lastAppended: number;
  #following: Following | null = null;
  /** The highest position that is reported as soon as the process is past it. */
  #awaitedPosition = 0;
  #reportingPast: Promise<void> | null = null;

  constructor(options: ProcessRunOptions) {
    const { process, checkpoint, signal, store, endAtStart } = options;
    this.#options = options;
    this.#inherited = checkpoint;
    this.#position = checkpoint.position;
    this.#lastAppended = checkpoint.lastAppended;
    this.#ownWrites = new OwnWrites(store, Math.max(checkpoint.lastAppended, endAtStart));
    this.#seen = new SeenStreams(process, checkpoint.position === startOfLog.position);
    this.#reactions = process.concurrency === undefined ? null : this.#newReactions(process.concurrency);
    // From then on, the position of the follower may be beyond events that were not handled.
    signal.addEventListener('abort', () => this.#followTail(), { once: true });
  }

  get process(): Process {
    return this.#options.process;
  }

  start(): void {
    const { process, tail, signal } = this.#options;
    this.#following = tail.follow({
      name: `the process ${process.name}`,
      after: () => this.#position,
      types: process.types,
      handle: (batch) => (this.#reactions === null ? this.#handleInOrder(batch) : this.#begin(batch, this.#reactions)),
      signal,
    });
  }

  /**
   * Calls `onChange` when the process has passed a position. The events up to it may have other types than those that
   * it handles, and callers wait until it has seen them.
   */
  reportWhenPast(position: number): void {
    const following = this.#following;
    if (following === null) return;
    this.#awaitedPosition = Math.max(this.#awaitedPosition, position);
    this.#reportingPast ??= this.#passAwaited(following)
      .catch(this.#options.onFailure)
      .finally(() => {
        this.#reportingPast = null;
      });
  }

  /** Waits for the end. Call it after the signal has aborted. */
  async ended(): Promise<void> {
    await this.#following?.ended;
    await this.#reactions?.ended();
  }

  get checkpoint(): ProcessCheckpoint {
    if (!this.#options.signal.aborted) this.#followTail();
    const { failure, waitingFor } = this;
    return { position: this.#position, lastAppended: this.#lastAppended, failure, waitingFor };
  }

  /**
   * The present position. Callers do not wait for a process that has stopped, waits itself, keeps failing, or looks again at
   * events of the past.
   */
  get followed(): FollowedPosition {
    const { position, failure, waitingFor } = this.checkpoint;
    const isAtWork = failure === null && waitingFor === null && this.#failing.size === 0;
    return { position, live: isAtWork && position >= this.#options.liveFrom };
  }

  get failure(): EventFailure | null {
    const failures = [...this.#stopped.values(), this.#inherited.failure].filter((failure) => failure !== null);
    return failures.reduce<EventFailure | null>(
      (first, failure) => (first === null || failure.position < first.position ? failure : first),
      null,
    );
  }

  /** What the process waits for: a read model, or what is unavailable. */
  get waitingFor(): string | null {
    const [first] = this.#waiting.values();
    return first ?? this.#inherited.waitingFor;
  }

  /** Moves the position with the follower, which may have passed events of other types. */
  #followTail(): void {
    const position = this.#following?.position ?? 0;
    this.#reactions?.observe(position);
    this.#moveTo(this.#reactions?.passed ?? position);
  }

  async #handleInOrder({ events, position }: EventBatch): Promise<void> {
    const { process, signal, saved } = this.#options;
    for (const event of events) {
      if (signal.aborted) return;
      if (event.position <= this.#position || !mayHandle(process, event)) continue;
      const appendedBefore = this.#lastAppended;
      await this.#react(event, pauseUnsupported, withSlot);
      this.#seen.add(event);
      this.#pass(event.position);
      // After a crash the process may see an event again that led to no append.
      if (this.#lastAppended === appendedBefore) continue;
      await saved();
    }
    if (!signal.aborted) this.#pass(position);
  }

  async #passAwaited(following: Following): Promise<void> {
    const { signal, onChange } = this.#options;
    while (this.#position < this.#awaitedPosition) {
      const hasPassed = await following.passed(this.#awaitedPosition, signal);
      // After an abort, the position of the follower may be beyond events that were not handled.
      if (!hasPassed || signal.aborted) return;
      this.#followTail();
      onChange('passed');
    }
  }

  async #begin({ events, position }: EventBatch, reactions: Reactions): Promise<void> {
    const { process, signal } = this.#options;
    for (const event of events) if (mayHandle(process, event)) await reactions.begin(event);
    if (signal.aborted) return;
    reactions.observe(position);
    this.#pass(reactions.passed);
  }

  #newReactions(concurrency: number): Reactions {
    const { signal, onFailure } = this.#options;
    const reactions: Reactions = new Reactions(this.#position, {
      concurrency,
      handle: (event, pauseUntil, withoutSlot) => this.#react(event, pauseUntil, withoutSlot),
      onEnd: () => this.#pass(reactions.passed),
      onFailure,
      signal,
    });
    return reactions;
  }

  #pass(position: number): void {
    this.#moveTo(position);
    this.#options.onChange('passed');
  }

  #moveTo(position: number): void {
    if (position <= this.#position) return;
    this.#position = position;
    const { failure } = this.#inherited;
    this.#inherited = { failure: failure !== null && failure.position > position ? failure : null, waitingFor: null };
  }

  /** Repeats the reaction until it succeeds or an operator skips the event. @throws when the signal aborts */
  async #react(event: RecordedEvent, pauseUntil: PauseUntil, withoutSlot: WithoutSlot): Promise<void> {
    const { process, signal } = this.#options;
    const failures = new ReactionFailures(this.#inherited.failure?.eventId === event.id);
    for (;;) {
      try {
        ensureReadable(event);
        const owner = event.metadata.projectId ?? serviceOwner;
        await runFor(owner, () => process.handle(event, this.#toolsFor(event, pauseUntil, withoutSlot)));
        break;
      } catch (error) {
        signal.throwIfAborted();
        if ((await withoutSlot(() => this.#afterFailure(event, error, failures))) === 'skip') break;
      }
    }
    this.#settle(event);
  }

  async #afterFailure(event: RecordedEvent, error: unknown, failures: ReactionFailures): Promise<OperatorDecision> {
    const { process, requests, signal } = this.#options;
    const reason = reasonOf(error);
    const mustStop = failures.mustStop(reason);
    if (reason.kind === 'own' || reason.kind === 'unreadable') {
      if (requests.isSkipped(process.name, event.id)) return 'skip';
      if (mustStop) return this.#stopAt(event, error, failures);
    }
    const retryDelayMs = failures.retryDelayMs(reason);
    this.#report(event, error, reason, failures, retryDelayMs);
    await delay(retryDelayMs, signal);
    signal.throwIfAborted();
    return 'retry';
  }

  async #stopAt(event: RecordedEvent, error: unknown, failures: ReactionFailures): Promise<OperatorDecision> {
    const { process, requests, log, onChange } = this.#options;
    await requests.readAll();
    if (requests.isSkipped(process.name, event.id)) return 'skip';
    const decided = requests.decisionOn(process.name, event.id);
    const failure = eventFailure(event, error);
    failures.stopped();
    this.#settle(event);
    this.#stopped.set(event.id, failure);
    onChange('state');
    const cannot = reasonOf(error).kind === 'unreadable' ? 'read' : 'handle';
    log.error(
      { process: process.name, ...failure },
      `A process has stopped at an event that it cannot ${cannot}: retry it, or skip the event`,
    );
    const verdict = await decided;
    // After an abort the failure stays, and the next term takes it over.
    this.#stopped.delete(event.id);
    onChange('state');
    return verdict;
  }

  #report(
    event: RecordedEvent,
    error: unknown,
    reason: FailureReason,
    failures: ReactionFailures,
    retryDelayMs: number,
  ): void {
    const { process, log } = this.#options;
    if (reason.kind === 'unavailable') {
      if (failures.isWaiting && this.#waitFor(event, reason.waitingFor))
        log.warn({ process: process.name, waitingFor: reason.waitingFor }, 'a process waits for what is unavailable');
    } else {
      this.#waiting.delete(event.id);
      if (failures.keepsFailing) this.#failing.add(event.id);
      this.#options.onChange('state');
      log.error({ err: error, process: process.name, retryDelayMs }, 'a process will try again');
    }
  }

  /** Waits until the read model shows the event, however long that takes. @throws when the signal aborts first */
  async #untilShown(event: RecordedEvent, collection: string, position: number): Promise<void> {
    const { process, waitForPosition, log, signal } = this.#options;
    for (let ms = shortWaitMs; !(await waitForPosition(collection, position, { ms, signal })); ms = 0) {
      signal.throwIfAborted();
      if (this.#waitFor(event, collection))
        log.info({ process: process.name, readModel: collection }, 'waiting for a read model');
      await delay(lookIntervalMs, signal);
    }
    if (this.#waiting.delete(event.id)) this.#options.onChange('state');
  }

  /** @returns whether no other event waits for the same */
  #waitFor(event: RecordedEvent, waitingFor: string): boolean {
    const isNew = ![...this.#waiting.values()].includes(waitingFor);
    this.#waiting.set(event.id, waitingFor);
    this.#inherited = { ...this.#inherited, waitingFor: null };
    this.#options.onChange('state');
    return isNew;
  }

  #settle({ id }: RecordedEvent): void {
    this.#waiting.delete(id);
    this.#failing.delete(id);
    const { failure } = this.#inherited;
    this.#inherited = { failure: failure?.eventId === id ? null : failure, waitingFor: null };
  }

  #toolsFor(cause: RecordedEvent, pauseUntil: PauseUntil, withoutSlot: WithoutSlot): ProcessTools {
    const { signal, onAppended } = this.#options;
    return createProcessTools(this.#options, {
      cause,
      signal,
      pauseUntil,
      seen: this.#reactions === null ? this.#seen : null,
      onAppended: (position) => {
        this.#lastAppended = Math.max(this.#lastAppended, position);
        onAppended(cause.position, position);
      },
      ownWrites: this.#ownWrites,
      untilShown: (collection, position) => withoutSlot(() => this.#untilShown(cause, collection, position)),
    });
  }
}
