import { Worker } from 'node:worker_threads';
import * as E from 'fp-ts/lib/Either.js';
import type { Admission } from '#exchange/admission.ts';
import { Held } from '#exchange/held.ts';
import { withTimeoutError } from '#shared/async/timed-waits.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { type ThreadHeap, threadError } from '#shared/memory/thread-heap.ts';
import { type OpeningKey, type SentTurns, unpackTurns } from './open-turns.ts';
import type { ResponseFile } from './response-store.ts';
import type { TurnText } from './turn-text.ts';

export interface RowsOfFile {
  readonly file: ResponseFile;
  readonly projectId: string;
  readonly ids: ReadonlyArray<string>;
}

/** Where the sealed contents of some turns are. */
export type SealedPlace = RowsOfFile | { readonly contents: ReadonlyArray<readonly [id: string, content: string]> };

export interface TurnsRequest {
  readonly number: number;
  readonly sealed: SealedPlace;
  readonly opening: OpeningKey;
}

export type TurnsReply =
  | { readonly number: number; readonly turns: SentTurns }
  | { readonly number: number; readonly detail: string };

interface Waiting {
  readonly resolve: (turns: ReadonlyMap<string, TurnText>) => void;
  readonly reject: (error: UnavailableError) => void;
}

const entry = new URL('./turn-thread-entry.ts', import.meta.url);
const answerWithinMs = 30_000;
/** A turn has 8 MiB at most, and is in memory sealed, opened and marked. */
const heap: ThreadHeap = {
  thread: 'reads the turns of conversations',
  maxOldGenerationSizeMb: 512,
  maxYoungGenerationSizeMb: 16,
};

/**
 * Opens turns in a thread, so that those of a long conversation delay no other request. It starts with the first
 * request, and again after a failure.
 */
export class TurnThread {
  readonly #admission: Pick<Admission, 'slot'>;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | null = null;
  #number = 0;

  constructor(admission: Pick<Admission, 'slot'>) {
    this.#admission = admission;
  }

  /**
   * Opens turns. Those that are not there, or cannot be opened, are missing.
   * @param owner the project, which waits for its turn
   * @throws UnavailableError
   */
  async open(owner: string, sealed: SealedPlace, opening: OpeningKey): Promise<ReadonlyMap<string, TurnText>> {
    const leave = await this.#admission.slot(new Held(owner), 'stored turns');
    if (E.isLeft(leave)) throw new UnavailableError(leave.left.detail);
    try {
      return await withTimeoutError(answerWithinMs, this.#ask(sealed, opening), () => this.#giveUp());
    } finally {
      leave.right();
    }
  }

  /** Ends a thread that does not answer. The next request starts another one. */
  #giveUp(): UnavailableError {
    const reason = 'The thread that reads stored responses does not answer.';
    void this.#worker?.terminate();
    this.#end(reason);
    return new UnavailableError(reason);
  }

  /** Ends the thread. Whoever waits for it gets an error. A later request starts another one. */
  async close(): Promise<void> {
    const worker = this.#worker;
    this.#end('The stored responses are closed.');
    await worker?.terminate();
  }

  #ask(sealed: SealedPlace, opening: OpeningKey): Promise<ReadonlyMap<string, TurnText>> {
    const { promise, resolve, reject } = Promise.withResolvers<ReadonlyMap<string, TurnText>>();
    const number = this.#number++;
    this.#waiting.set(number, { resolve, reject });
    this.#worker ??= this.#start();
    this.#worker.postMessage({ number, sealed, opening } satisfies TurnsRequest);
    return promise;
  }

  #start(): Worker {
    const worker = new Worker(entry, { name: 'turns', resourceLimits: heap });
    worker.unref();
    worker.on('message', (reply: TurnsReply) => this.#receive(reply));
    worker.on('error', (error) => {
      if (this.#worker === worker) this.#end(threadError(error, heap).message);
    });
    worker.on('exit', () => {
      if (this.#worker === worker) this.#end('The thread that reads stored responses has ended.');
    });
    return worker;
  }

  #receive(reply: TurnsReply): void {
    const waiting = this.#waiting.get(reply.number);
    this.#waiting.delete(reply.number);
    if ('turns' in reply) waiting?.resolve(unpackTurns(reply.turns));
    else waiting?.reject(new UnavailableError(`The stored responses cannot be read: ${reply.detail}.`));
  }

  #end(reason: string): void {
    this.#worker = null;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) reject(new UnavailableError(reason));
  }
}
