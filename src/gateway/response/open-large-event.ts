import { constants } from 'node:buffer';
import { EventData } from '#gateway/framing/event-data.ts';
import { GatheredBytes } from '#gateway/framing/gathered-bytes.ts';
import { LargeEvent } from '#gateway/framing/large-event.ts';
import type { SseBatch } from '#gateway/framing/sse-splitter.ts';

/**
 * How an event arrives: it passes in pieces, its bytes are held because only its end says what it is, or its data are
 * held because they are read.
 */
export type LargeEventWay = 'passes' | 'holds-bytes' | 'holds-data';

const noBytes = Buffer.alloc(0);

export class OpenLargeEvent {
  readonly way: LargeEventWay;
  readonly #event: LargeEvent;
  readonly #bytes = new GatheredBytes();
  readonly #data: EventData | null;
  heldBytes = 0;
  isComplete = false;

  /** @param maxBytes that are held of it: the caller takes no more */
  constructor(way: LargeEventWay, maxBytes: number) {
    this.way = way;
    this.#data = way === 'holds-data' ? new EventData(Math.min(maxBytes, constants.MAX_STRING_LENGTH)) : null;
    this.#event = new LargeEvent(this.#data);
  }

  get isHeld(): boolean {
    return this.way !== 'passes';
  }

  /** True if no more of it passes: an error has begun whose secrets are not removed. */
  get isCut(): boolean {
    return !this.isHeld && this.#event.outline.hasError;
  }

  get keptBytes(): number {
    return this.heldBytes + this.#event.outline.bytes;
  }

  get isTooLarge(): boolean {
    return this.way !== 'holds-data' && this.#event.outline.isTooLarge;
  }

  /** @returns how many bytes of it belong to the event */
  take(piece: Buffer): number {
    const end = this.#event.take(piece);
    this.isComplete = end !== -1;
    const length = this.isComplete ? end : piece.length;
    if (this.isHeld) this.heldBytes += length;
    if (this.way === 'holds-bytes' && length > 0) this.#bytes.add(piece.subarray(0, length));
    return length;
  }

  /** The batch of a complete event: with its bytes if they are held, and its data or their outline. */
  get batch(): SseBatch {
    const bytes = this.way === 'holds-bytes' ? this.#bytes.bytes : noBytes;
    return { bytes, events: [{ start: 0, end: bytes.length, data: this.#data?.take() ?? this.#event.outline.text }] };
  }
}
