import { Worker } from 'node:worker_threads';
import type { ReadOfLog } from '#domain/shared/log-mark.ts';
import type {
  CollectionDefinition,
  CollectionGenerations,
  Generation,
  OperatorState,
  ProjectionStatus,
} from '#read-store/read-store.ts';
import { clock, type Timer } from '#shared/clock.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { type ThreadHeap, threadError } from '#shared/memory/thread-heap.ts';
import { ReadStoreDamagedError } from './read-store-file.ts';
import { charactersOf, type RowCommit, type RowStore } from './row-commits.ts';

/** Maximum length of JSON in calls to the thread that no caller waits for. A single call may have more. */
const maxPostponedCharacters = 4 * 1024 * 1024;
/** A commit comes in parts of a few megabytes. The thread's garbage is the messages that it receives. */
const heap: ThreadHeap = {
  thread: 'writes the read store',
  maxOldGenerationSizeMb: 512,
  maxYoungGenerationSizeMb: 6,
};
const maxPostponed = 50;
const openTimeoutMs = 30_000;
/** Maximum silence of the thread: longer than an index of a large read model takes, which is the longest call. */
export const maxSilenceMs = 900_000;

interface PendingCall {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/**
 * A thread that writes the read store's file, so that documents are folded while others are stored. It executes calls
 * in order. No caller waits for commits of incomplete generations. If one fails, all later calls fail, as they do when
 * the thread has not answered for fifteen minutes.
 */
export class WriterThread implements RowStore {
  readonly #worker: Worker;
  readonly #exited: Promise<void>;
  readonly #calls = new Map<number, PendingCall>();
  readonly #postponed: { readonly done: Promise<void>; readonly characters: number }[] = [];
  #postponedCharacters = 0;
  #filling: ReadonlySet<number>;
  #requests = 0;
  #failure: Error | null = null;
  #silence: Timer | null = null;

  private constructor(file: string, filling: ReadonlySet<number>) {
    this.#filling = filling;
    this.#worker = new Worker(new URL('./writer-thread-entry.ts', import.meta.url), {
      workerData: file,
      resourceLimits: heap,
    });
    this.#worker.on('message', (message: WriterAnswer) => this.#receive(message));
    this.#worker.on('error', (error) => this.#fail(threadError(error, heap)));
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#exited = promise;
    this.#worker.once('exit', () => {
      this.#fail(new Error('The thread that writes the read store has ended.'));
      resolve();
    });
  }

  /** Starts the thread. No other writer may have the file open. @throws Error if the thread cannot open the file */
  static async start(file: string, filling: ReadonlySet<number>): Promise<WriterThread> {
    const thread = new WriterThread(file, filling);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(
      () => reject(new Error('The thread that writes the read store did not start.')),
      openTimeoutMs,
    );
    thread.#worker.once('message', () => resolve());
    void thread.#exited.then(() => reject(thread.#failure ?? new Error('It has ended.')));
    try {
      await promise;
      return thread;
    } catch (error) {
      await thread.#worker.terminate();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  get filling(): ReadonlySet<number> {
    return this.#filling;
  }

  writePart(...parameters: Parameters<RowStore['writePart']>): Promise<void> {
    return this.#call('writePart', parameters);
  }

  async commit(commits: ReadonlyArray<RowCommit>, more = false, read?: ReadOfLog): Promise<void> {
    const canWait = more && commits.every(({ generation }) => this.#filling.has(generation.number));
    if (!canWait) return this.#call('commit', [commits, more, read]);
    // The commit of each generation is complete by itself.
    for (const commit of commits) await this.#postponeCommit(commit, more, read);
  }

  generations(collection: string): Promise<CollectionGenerations> {
    return this.#call('generations', [collection]);
  }

  begin(definition: CollectionDefinition, begunAt: number): Promise<Generation> {
    return this.#call('begin', [definition, begunAt]);
  }

  read(...parameters: Parameters<RowStore['read']>): ReturnType<RowStore['read']> {
    return this.#call('read', parameters);
  }

  finish(generation: Generation): Promise<void> {
    return this.#call('finish', [generation]);
  }

  publish(generation: Generation): Promise<void> {
    return this.#call('publish', [generation]);
  }

  dropOthers(collections: ReadonlyArray<string>): Promise<void> {
    return this.#call('dropOthers', [collections]);
  }

  readOfLog(): Promise<ReadOfLog> {
    return this.#call('readOfLog', []);
  }

  operatorState(): Promise<OperatorState> {
    return this.#call('operatorState', []);
  }

  saveOperatorState(state: OperatorState): Promise<void> {
    return this.#call('saveOperatorState', [state]);
  }

  /** Sends the status. No caller waits for it, because only observers read it. */
  saveStatus(statuses: ReadonlyArray<ProjectionStatus>): Promise<void> {
    return this.#postpone('saveStatus', [statuses], 0);
  }

  /** Stores all postponed commits. */
  async close(): Promise<void> {
    const failed = this.#failure;
    if (failed === null) await this.#call('close', []).finally(() => this.#exited);
    await this.#worker.terminate();
  }

  /**
   * Sends a commit in parts, because what the thread has received in one large message survives its young generation.
   * All parts are sent in one turn, so that no other call comes between them.
   */
  #postponeCommit(commit: RowCommit, more: boolean, read?: ReadOfLog): Promise<void> {
    const { generation, writes, checkpoint } = commit;
    for (const write of writes) this.#send('writePart', [generation, write], true);
    return this.#postpone('commit', [[{ generation, writes: [], checkpoint }], more, read], charactersOf(commit));
  }

  /** Sends a call that no caller waits for. It waits only while too much is on its way to the thread. */
  async #postpone(call: WriterCall, parameters: ReadonlyArray<unknown>, characters: number): Promise<void> {
    const done = this.#call<void>(call, parameters, true).catch((error: unknown) => {
      this.#failure ??= new Error('The read store has lost commits that were put off.', { cause: error });
    });
    this.#postponed.push({ done, characters });
    this.#postponedCharacters += characters;
    while (this.#postponed.length > maxPostponed || this.#postponedCharacters > maxPostponedCharacters) {
      const oldest = this.#postponed.shift();
      if (oldest === undefined) break;
      this.#postponedCharacters -= oldest.characters;
      await oldest.done;
    }
    if (this.#failure !== null) throw this.#failure;
  }

  #call<Result>(call: WriterCall, parameters: ReadonlyArray<unknown>, postponed = false): Promise<Result> {
    if (this.#failure !== null) return Promise.reject(this.#failure);
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#calls.set(this.#send(call, parameters, postponed), { resolve, reject });
    if (this.#silence === null) this.#watchSilence();
    return promise as Promise<Result>;
  }

  /** @returns the number of the request, with which the thread answers */
  #send(call: WriterCall, parameters: ReadonlyArray<unknown>, postponed: boolean): number {
    this.#requests += 1;
    const message: WriterRequest = { request: this.#requests, call, parameters, postponed };
    this.#worker.postMessage(message);
    return message.request;
  }

  #receive(message: WriterAnswer): void {
    if (message.kind === 'opened') return;
    const pending = this.#calls.get(message.request);
    this.#calls.delete(message.request);
    this.#watchSilence();
    if (message.kind === 'failed') {
      pending?.reject(errorOf(message.failure));
      return;
    }
    this.#filling = message.filling;
    pending?.resolve(message.result);
  }

  /** Watches for the thread's next answer, if it owes one. */
  #watchSilence(): void {
    clock.clearTimeout(this.#silence);
    this.#silence = null;
    if (this.#calls.size === 0) return;
    this.#silence = clock.setTimeout(() => {
      this.#fail(new Error('The thread that writes the read store does not answer.'));
      void this.#worker.terminate();
    }, maxSilenceMs);
    this.#silence.unref();
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    clock.clearTimeout(this.#silence);
    for (const { reject } of this.#calls.values()) reject(this.#failure);
    this.#calls.clear();
  }
}

function errorOf({ kind, message }: WriterFailure): Error {
  switch (kind) {
    case 'unavailable':
      return new UnavailableError(message);
    case 'damaged':
      return new ReadStoreDamagedError(message);
    case 'other':
      return new Error(message);
  }
}

export type WriterCall = Exclude<keyof RowStore, 'filling'>;

/** A request to the thread, which executes messages in order. */
export interface WriterRequest {
  readonly request: number;
  readonly call: WriterCall;
  readonly parameters: ReadonlyArray<unknown>;
  /** True if no caller waits for it. If such a call fails, all later calls are refused. */
  readonly postponed: boolean;
}

export interface WriterFailure {
  readonly kind: 'unavailable' | 'damaged' | 'other';
  readonly message: string;
}

export type WriterAnswer =
  | { readonly kind: 'opened' }
  | {
      readonly kind: 'done';
      readonly request: number;
      readonly result: unknown;
      readonly filling: ReadonlySet<number>;
    }
  | { readonly kind: 'failed'; readonly request: number; readonly failure: WriterFailure };
