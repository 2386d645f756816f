const stepBytes = 1024 * 1024;

/**
 * The data of a large event in one part of memory, which grows without a copy, and is given back when it is read and not
 * when garbage is collected.
 */
export class EventData {
  readonly #memory: ArrayBuffer;
  #length = 0;

  /** @param maxBytes more are never added */
  constructor(maxBytes: number) {
    this.#memory = new ArrayBuffer(0, { maxByteLength: maxBytes });
  }

  feed(piece: Buffer): void {
    const needed = this.#length + piece.length;
    if (needed > this.#memory.byteLength)
      this.#memory.resize(Math.min(this.#memory.maxByteLength, Math.max(needed, this.#length + stepBytes)));
    new Uint8Array(this.#memory, this.#length, piece.length).set(piece);
    this.#length = needed;
  }

  /** Gives the memory back. */
  take(): string {
    const text = Buffer.from(this.#memory, 0, this.#length).toString('utf8');
    this.#memory.resize(0);
    this.#length = 0;
    return text;
  }
}
