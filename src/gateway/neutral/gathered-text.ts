const maxPieces = 256;

/** The bytes of a piece in addition to its own, even if it has one character. */
const bytesPerPiece = 32;

/** A text in pieces. Small ones, often one for each token, are joined. */
export class GatheredText {
  readonly #pieces: string[] = [];
  /** The pieces at the beginning that were joined. */
  #joined = 0;
  bytes = 0;

  /** @returns the bytes that it takes more; a negative number if pieces were joined */
  add(piece: string): number {
    const before = this.bytes;
    this.bytes += piece.length + bytesPerPiece;
    if (this.#pieces.push(piece) - this.#joined >= maxPieces) {
      this.#pieces.push(this.#pieces.splice(this.#joined).join(''));
      this.#joined += 1;
      this.bytes -= (maxPieces - 1) * bytesPerPiece;
    }
    return this.bytes - before;
  }

  get pieces(): ReadonlyArray<string> {
    return this.#pieces;
  }

  get text(): string {
    return this.#pieces.join('');
  }
}
