import type { ByteHold } from '#application/access/byte-budget.ts';
import { heldBytesOf } from './body-failures.ts';
import type { Arrival, ArrivalLimits, BodySource, TakePiece } from './body-source.ts';

/** A body in memory, for a call without a connection, such as a line of a batch. */
export class MemoryBody implements BodySource {
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get isPresent(): boolean {
    return this.#bytes.length > 0;
  }

  get announcedBytes(): number {
    return this.#bytes.length;
  }

  takeBuffered(): Buffer {
    return this.#bytes;
  }

  async receive(_limits: ArrivalLimits, hold: ByteHold, take: TakePiece): Promise<Arrival> {
    const shortage = hold.take(heldBytesOf(this.#bytes));
    if (shortage !== null) return { shortage };
    return (await take(this.#bytes)) ? 'whole' : 'stopped';
  }
}
