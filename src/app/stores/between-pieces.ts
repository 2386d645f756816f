import { Readable } from 'node:stream';
import { clock, type Timer } from '#shared/clock.ts';
import type { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { answerWithin, CallLimit, lateError } from './call-limit.ts';

/**
 * The call throws `UnavailableError` when a store takes longer than some ms for a piece: of a stream that the call gives,
 * or of content that it is given. How long the content takes to come does not count.
 */
export function betweenPieces(milliseconds: number): CallLimit {
  return new CallLimit((call, what) => (...given) => {
    const wait = new PieceWait(milliseconds, what);
    wait.start();
    const result = call(...given.map((one) => (isContent(one) ? wait.watch(one) : one)));
    if (result instanceof Promise) return wait.answer(result).then((value) => limitedPieces(value, wait));
    wait.stop();
    return limitedPieces(result, wait);
  });
}

/** The wait for a store, which content that comes late interrupts. */
class PieceWait {
  readonly #milliseconds: number;
  readonly #what: string;
  readonly #late = Promise.withResolvers<never>();
  #error: UnavailableError | null = null;
  #timer: Timer | null = null;

  constructor(milliseconds: number, what: string) {
    this.#milliseconds = milliseconds;
    this.#what = what;
    this.#late.promise.catch(() => undefined);
  }

  start(): void {
    this.stop();
    this.#timer = clock.setTimeout(() => this.#end(), this.#milliseconds).unref();
  }

  stop(): void {
    clock.clearTimeout(this.#timer);
    this.#timer = null;
  }

  async answer<Answer>(answer: Promise<Answer>): Promise<Answer> {
    try {
      return await Promise.race([answer, this.#late.promise]);
    } finally {
      this.stop();
    }
  }

  piece<Piece>(piece: Promise<Piece>): Promise<Piece> {
    return answerWithin(this.#milliseconds, piece, this.#what);
  }

  watch(content: AsyncIterable<unknown>): AsyncIterable<unknown> {
    const watched = this.#watched(content);
    return content instanceof Readable ? Readable.from(watched, { objectMode: false }) : watched;
  }

  async *#watched(content: AsyncIterable<unknown>): AsyncGenerator<unknown, void, void> {
    this.stop();
    try {
      for await (const piece of content) {
        this.start();
        yield piece;
        // The call was left, and stores no more.
        if (this.#error !== null) throw this.#error;
        this.stop();
      }
    } finally {
      // A call that was left needs no further limit.
      if (this.#error === null) this.start();
    }
  }

  #end(): void {
    this.#error = lateError(this.#milliseconds, this.#what);
    this.#late.reject(this.#error);
  }
}

function limitedPieces(value: unknown, wait: PieceWait): unknown {
  if (value instanceof Readable) {
    const pieces = piecesOf(value, wait, async () => value.destroy());
    // Nothing is read ahead of the consumer.
    return Readable.from(pieces, { objectMode: false, highWaterMark: 0 }).once('close', () => value.destroy());
  }
  return isContent(value) ? piecesOf(value, wait, async (iterator) => iterator.return?.()) : value;
}

/** @param leave ends the iteration, and waits for nothing that may not come */
function piecesOf(
  content: AsyncIterable<unknown>,
  wait: PieceWait,
  leave: (iterator: AsyncIterator<unknown>) => Promise<unknown>,
): AsyncIterable<unknown> {
  return {
    [Symbol.asyncIterator]: () => {
      const iterator = content[Symbol.asyncIterator]();
      return {
        next: () =>
          wait.piece(iterator.next()).catch((error: unknown) => {
            leave(iterator).catch(() => undefined);
            throw error;
          }),
        return: async () => {
          await wait.piece(leave(iterator));
          return { done: true, value: undefined };
        },
      };
    },
  };
}

function isContent(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
