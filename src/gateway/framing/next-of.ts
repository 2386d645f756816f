/** Finds the next of a few bytes in a piece. Each byte is searched natively, and once in each part of the piece. */
export class NextOf {
  readonly #piece: Buffer;
  readonly #bytes: ReadonlyArray<number>;
  readonly #places: number[];

  constructor(piece: Buffer, bytes: ReadonlyArray<number>) {
    this.#piece = piece;
    this.#bytes = bytes;
    this.#places = bytes.map(() => -1);
  }

  /** The offset of the next one; the length of the piece if none follows. */
  from(offset: number): number {
    let first = this.#piece.length;
    for (let index = 0; index < this.#bytes.length; index += 1) {
      let place = this.#places[index] as number;
      if (place < offset) {
        const found = this.#piece.indexOf(this.#bytes[index] as number, offset);
        place = found === -1 ? this.#piece.length : found;
        this.#places[index] = place;
      }
      if (place < first) first = place;
    }
    return first;
  }
}
