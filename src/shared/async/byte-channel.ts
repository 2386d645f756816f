/** Passes bytes from a writer to a reader, and holds a bounded number of them meanwhile. */
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
   * @param maxBytes that the channel holds before the writer must wait; a single piece may exceed it
   * @param onTaken is called with each piece after the reader has used it
   */
  constructor(maxBytes: number, onTaken: (bytes: Buffer) => void = ignore) {
    this.#maxBytes = maxBytes;
    this.#onTaken = onTaken;
  }

  /** Writes bytes. `ready` resolves when the next piece may be written. */
  write(bytes: Buffer): void {
    if (this.#end !== null || this.#readerHasLeft) return;
    this.#waiting.push(bytes);
    this.#bytes += bytes.length;
    this.#wakeReader();
  }

  /** Waits for space. @returns false if the reader has left */
  async ready(): Promise<boolean> {
    while (this.#bytes >= this.#maxBytes && !this.#readerHasLeft) {
      await new Promise<void>((resolve) => {
        this.#wakeWriter = resolve;
      });
    }
    return !this.#readerHasLeft;
  }

  finish(): void {
    this.#end ??= 'whole';
    this.#wakeReader();
  }

  /** The reader gets the error in place of the unread bytes. */
  fail(error: unknown): void {
    this.#end ??= { error };
    this.#wakeReader();
  }

  /** Call it when the reader leaves, whether or not it has begun to read. */
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
