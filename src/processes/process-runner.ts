import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import * as E from 'fp-ts/lib/Either.js';
import type { CommandHandler } from '#event-store/command-handler.ts';
import type { EventStore, RecordedEvent } from '#event-store/event-store.ts';
import type { ReadStore } from '#read-store/read-store.ts';
import { CheckpointKeeper } from './checkpoint-keeper.ts';
import type { CheckpointStore } from './checkpoint-store.ts';
import { HandlingRefused } from './handling-refused.ts';
import type { Process, ProcessTools } from './process.ts';
import { type PauseUntil, Reactions } from './reactions.ts';

export interface ProcessRunnerOptions {
  readonly process: Process;
  readonly store: EventStore;
  readonly handler: CommandHandler;
  readonly documents: ReadStore;
  /** Waits until a read model has passed a position; false when it did not in time. */
  readonly reached: (collection: string, position: number) => Promise<boolean>;
  readonly checkpoints: CheckpointStore;
  readonly log: { error(details: object, message: string): void };
}

const firstPauseMilliseconds = 50;
const longestPauseMilliseconds = 10_000;

interface Waiter {
  readonly position: number;
  readonly resolve: () => void;
}

/**
 * Runs one process: in order, one event at a time, each tried until it succeeds; then the checkpoint. One that says
 * `atOnce` is run on so many events at once, and its checkpoint stays behind the oldest that has not ended.
 */
export class ProcessRunner {
  readonly #options: ProcessRunnerOptions;
  readonly #stopped = new AbortController();
  readonly #waiters = new Set<Waiter>();
  #position = 0;
  #lastAppended = 0;
  #running: Promise<void> | undefined;

  constructor(options: ProcessRunnerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  /** Whether it will do something about one of these events that an answer waits for. */
  concerns(events: ReadonlyArray<RecordedEvent>): boolean {
    const { types, concerns, atOnce } = this.#options.process;
    if (atOnce !== undefined) return false;
    return events.some((event) => types.includes(event.type) && concerns(event));
  }

  /**
   * Waits until everything up to a position was reacted to.
   * @returns the position of the last event that it appended itself; null when the time ran out
   */
  async passed(position: number, milliseconds: number): Promise<number | null> {
    if (this.#position < position && !(await this.#reach(position, milliseconds))) return null;
    return this.#lastAppended;
  }

  #reach(position: number, milliseconds: number): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (reached: boolean) => {
        clearTimeout(timer);
        this.#waiters.delete(waiter);
        resolve(reached);
      };
      const timer = setTimeout(() => settle(false), milliseconds);
      const waiter = { position, resolve: () => settle(true) };
      this.#waiters.add(waiter);
    });
  }

  async #run(): Promise<void> {
    let pause = firstPauseMilliseconds;
    while (!this.#stopped.signal.aborted) {
      try {
        await this.#follow();
        pause = firstPauseMilliseconds;
      } catch (error) {
        if (this.#stopped.signal.aborted) return;
        this.#options.log.error({ err: error, process: this.#options.process.name }, 'a process will try again');
        await sleep(pause, undefined, { signal: this.#stopped.signal }).catch(() => undefined);
        pause = Math.min(pause * 2, longestPauseMilliseconds);
      }
    }
  }

  async #follow(): Promise<void> {
    const { process, store, checkpoints } = this.#options;
    const checkpoint = await checkpoints.read(process.name);
    // A log that ends before what was seen of it is another log: restored from a backup, perhaps.
    this.#position = checkpoint <= (await store.lastPosition()) ? checkpoint : 0;
    const signal = this.#stopped.signal;
    if (process.atOnce !== undefined) return this.#followAtOnce(process.atOnce);
    for await (const batch of store.subscribe({ after: this.#position, types: process.types, signal })) {
      for (const event of batch.events) {
        if (signal.aborted) return;
        if (process.concerns(event)) {
          await process.react(event, this.#toolsFor(event));
          await checkpoints.write(process.name, event.position);
        }
      }
      if (batch.events.length > 0) await checkpoints.write(process.name, batch.position);
      this.#pass(batch.position);
    }
  }

  async #followAtOnce(atOnce: number): Promise<void> {
    const { process, store, checkpoints, log } = this.#options;
    const failed = new AbortController();
    const signal = AbortSignal.any([this.#stopped.signal, failed.signal]);
    // Every reaction that pauses listens to it.
    setMaxListeners(0, signal);
    const keeper = new CheckpointKeeper(checkpoints, process.name, this.#position, () => failed.abort());
    const moved = () => {
      keeper.move(reactions.passed);
      this.#pass(reactions.passed);
    };
    const reactions: Reactions = new Reactions(this.#position, {
      atOnce,
      react: (event, pauseUntil) => process.react(event, this.#toolsFor(event, pauseUntil, signal)),
      onEnd: moved,
      onFailure: (error) => log.error({ err: error, process: process.name }, 'a process will try again'),
      signal,
    });
    try {
      for await (const batch of store.subscribe({ after: this.#position, types: process.types, signal })) {
        for (const event of batch.events) if (process.concerns(event)) await reactions.begin(event);
        if (signal.aborted) break;
        reactions.see(batch.position);
        moved();
      }
    } finally {
      // Also where the subscription failed: those that run are not begun a second time beside themselves.
      failed.abort();
      await reactions.ended();
    }
    await keeper.saved();
  }

  #pass(position: number): void {
    this.#position = position;
    for (const waiter of this.#waiters) if (waiter.position <= position) waiter.resolve();
  }

  #toolsFor(cause: RecordedEvent, pauseUntil: PauseUntil = notInOrder, signal = this.#stopped.signal): ProcessTools {
    const { handler, store, documents, reached, log } = this.#options;
    const { actor, requestId, $correlationId } = cause.metadata;
    const origin = { actor, requestId, correlationId: $correlationId, causationId: cause.id };
    return {
      load: (entity, id) => handler.load(entity, id),
      dataAt: async (entity, id, revision) => (await handler.eventAt(entity, id, revision)).data,
      pauseUntil,
      log,
      handle: async (handling) => {
        signal.throwIfAborted();
        const handled = await handler.handle({ ...handling, origin });
        if (E.isLeft(handled)) throw new HandlingRefused(handled.left);
        this.#lastAppended = Math.max(this.#lastAppended, handled.right.events.at(-1)?.position ?? 0);
      },
      documentsUpToDate: async (collection) => {
        if (await reached(collection, await store.lastPosition())) return documents;
        throw new Error(`the read model ${collection} is behind`);
      },
    };
  }
}

/** A pause in a process that goes in order would hold up every event behind it. */
const notInOrder: PauseUntil = () => Promise.reject(new Error('a process that goes in order does not pause'));
