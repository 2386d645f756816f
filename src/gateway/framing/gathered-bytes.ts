/** Maximum number of pieces that are kept apart. Each takes memory of its own, even if it has one byte. */
const maxPieces = 256;

/** Bytes in pieces. A provider chooses their sizes, so small ones are joined. */
export class GatheredBytes {
  readonly #pieces: Buffer[] = [];
  /** The pieces at the beginning that were joined. */
  #joined = 0;
  length = 0;

  add(piece: Buffer): void {
    this.length += piece.length;
    if (this.#pieces.push(piece) - this.#joined < maxPieces) return;
    this.#pieces.push(Buffer.concat(this.#pieces.splice(this.#joined)));
    this.#joined += 1;
  }

  get bytes(): Buffer {
    const [only] = this.#pieces;
    return only !== undefined && this.#pieces.length === 1 ? only : Buffer.concat(this.#pieces, this.length);
  }

  /** Returns the pieces and forgets them. */
  take(): ReadonlyArray<Buffer> {
    this.length = 0;
    this.#joined = 0;
    return this.#pieces.splice(0);
  }
}
