import type { ByteReservation } from '#exchange/byte-budget.ts';
import { type AttemptFailure, noRoom, tooLarge } from '#gateway/attempt/attempt-failure.ts';
import { GatheredBytes } from '#gateway/framing/gathered-bytes.ts';
import { maxKeptBytes, type StreamInterpreter } from '#gateway/framing/stream-interpreter.ts';
import type { EventStreamResponseOptions } from './shared-stream.ts';

/** Maximum size of what is held before the first content, in addition to what repeats the request. */
const maxHeldBytes = 1024 * 1024;
const maxWholeBytes = 16 * 1024 * 1024;

/** Number of events that repeat a request before the first content: `response.created`, `queued` and `in_progress`. */
const repeatingEvents = 3;
/** How many bytes a byte of the request may take, because a provider may write it as an escape. */
const escapedBytes = 3;
/** Maximum size of what repeats the request in one event. */
const maxRepeatedBytes = 8 * 1024 * 1024;

/**
 * The events of one attempt that are held; the client does not have them yet. They count in the budget of answers, with
 * all else that the attempt keeps of its stream.
 */
export class HeldEvents {
  readonly #answerHold: ByteReservation;
  readonly #interpreter: StreamInterpreter;
  /** The limit of small events. Large ones have a limit of their own. */
  readonly #maxSmallBytes: number;
  readonly #maxWindowBytes: number;
  readonly #events = new GatheredBytes();
  #largeBytes = 0;
  /** The bytes that the decompression of the stream keeps. */
  #windowBytes = 0;
  openBytes = 0;

  /** @param maxWindowBytes that the decompression of the stream keeps */
  constructor(options: EventStreamResponseOptions, interpreter: StreamInterpreter, maxWindowBytes: number) {
    const { isHeldWhole, repeatedBytes = 0 } = options;
    this.#answerHold = options.answerHold;
    this.#interpreter = interpreter;
    this.#maxSmallBytes = (isHeldWhole ? maxWholeBytes : maxHeldBytes) + maxRepeatedBefore(repeatedBytes);
    this.#maxWindowBytes = maxWindowBytes;
  }

  get isEmpty(): boolean {
    return this.#events.length === 0;
  }

  get all(): Buffer {
    return this.#events.bytes;
  }

  /**
   * @param isBounded whether their limit counts
   * @returns why they cannot be held; null if they can
   */
  add(bytes: Buffer, isBounded: boolean): AttemptFailure | null {
    this.#events.add(bytes);
    if (isBounded && this.#events.length > this.#maxSmallBytes + this.#largeBytes) return tooLarge;
    return this.#answerHold.takeBegun(bytes.length) ? null : noRoom;
  }

  /** Extends the limit for a large event, which was counted while it came. */
  extendFor(largeBytes: number): void {
    this.#largeBytes += largeBytes;
  }

  extendWindow(bytes: number): void {
    this.#windowBytes = Math.min(this.#maxWindowBytes, this.#windowBytes + bytes);
  }

  /** Takes the held bytes with the next ones. Holds nothing afterwards. */
  takeWith(next: Buffer): Buffer {
    if (next.length > 0) this.#events.add(next);
    const all = this.#events.bytes;
    this.#events.take();
    return all;
  }

  /**
   * @param keptBytes what the interpreter keeps, or what its end takes
   * @returns null if there is room
   */
  count(keptBytes: number): AttemptFailure | null {
    const bytes = this.#events.length + keptBytes + this.#windowBytes + this.openBytes;
    const more = bytes - this.#answerHold.bytes;
    if (more <= 0) this.#answerHold.resize(bytes);
    else if (this.#interpreter.keptBytes > (this.#interpreter.maxKeptBytes ?? maxKeptBytes)) return tooLarge;
    else if (!this.#answerHold.takeBegun(more)) return noRoom;
    return null;
  }
}

/** The limit before the first content. The gateway's own events may be longer. */
function maxRepeatedBefore(repeatedBytes: number): number {
  return repeatingEvents * Math.max(Math.min(maxRepeatedBytes, escapedBytes * repeatedBytes), repeatedBytes);
}
