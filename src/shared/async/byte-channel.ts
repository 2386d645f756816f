/** Hands bytes from whoever receives them to the one who stores them, and holds a bounded number of them meanwhile. */
export class ByteChannel implements AsyncIterable<Buffer> {
  readonly #maxBytes: number;
  readonly #onTaken: (bytes: Buffer) => void;
  #waiting: Buffer[] = [];
  #bytes = 0;
  #end: { readonly error: unknown } | 'whole' | null = null;
  #readerHasLeft = false;
  #wakeReader: () => void = ignore;
  #wakeWriter: () => void = ignore;

  /**
   * @param maxBytes held until the writer has to wait; a single piece may exceed it
   * @param onTaken is called with each piece that the reader is done with
   */
  constructor(maxBytes: number, onTaken: (bytes: Buffer) => void = ignore) {
    this.#maxBytes = maxBytes;
    this.#onTaken = onTaken;
  }

  /** Hands over a piece; `ready` says when the next one is welcome. */
  write(bytes: Buffer): void {
    if (this.#end !== null || this.#readerHasLeft) return;
    this.#waiting.push(bytes);
    this.#bytes += bytes.length;
    this.#wakeReader();
  }

  /** Waits until there is room. @returns false when the reader wants no more */
  async ready(): Promise<boolean> {
    while (this.#bytes >= this.#maxBytes && !this.#readerHasLeft) {
      await new Promise<void>((resolve) => {
        this.#wakeWriter = resolve;
      });
    }
    return !this.#readerHasLeft;
  }

  /** All has come. */
  finish(): void {
    this.#end ??= 'whole';
    this.#wakeReader();
  }

  /** Breaks off: the reader gets the error in place of what it has not read. */
  fail(error: unknown): void {
    this.#end ??= { error };
    this.#wakeReader();
  }

  /** The reader wants no more, whether or not it has begun to read. */
  leave(): void {
    this.#readerHasLeft = true;
    this.#waiting = [];
    this.#wakeWriter();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    try {
      for (;;) {
        if (this.#end !== null && this.#end !== 'whole') throw this.#end.error;
        const next = this.#waiting.shift();
        if (next !== undefined) {
          yield next;
          this.#bytes -= next.length;
          this.#onTaken(next);
          this.#wakeWriter();
        } else if (this.#end === 'whole') return;
        else {
          await new Promise<void>((resolve) => {
            this.#wakeReader = resolve;
          });
        }
      }
    } finally {
      this.leave();
    }
  }
}

function ignore(): void {}
