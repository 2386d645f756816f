import type { ByteReservation } from './byte-budget.ts';

/**
 * What gets a response: a connection or memory. Either `send` writes the whole response, or `start`, `write` and `end`
 * write it in pieces. Lists of headers have alternating names and values.
 */
export interface Client {
  /** Whether the receiver disconnected before the response was complete. Later writes are then ignored. */
  readonly isDisconnected: boolean;
  /** Adds headers for `send` or `start`. */
  readonly addHeaders: (headers: ReadonlyArray<string>) => void;
  readonly send: (status: number, headers: ReadonlyArray<string>, body: string | Buffer) => void;
  /** Starts a response that follows in pieces. */
  readonly start: (status: number, headers: ReadonlyArray<string>) => void;
  /** @returns false if the receiver is slower; the writer then waits for `onceDrained` */
  readonly write: (bytes: Buffer | string) => boolean;
  /** The listener is called once, when the receiver has received all pieces so far. A second call replaces it. */
  readonly onceDrained: (listener: () => void) => void;
  readonly end: () => void;
  /** Breaks the connection, so that the receiver cannot mistake a part for the whole. */
  readonly destroy: () => void;
  /**
   * Listens for a receiver that leaves before the response is complete; null for no listener. It is called once, and
   * immediately if the receiver has left.
   */
  readonly onDisconnect: (listener: (() => void) | null) => void;
}

/**
 * The client of a call without a connection, such as a line of a batch. A response of more than `maxBytes`, or for
 * which the node has no room, is aborted, as if its receiver had disconnected.
 */
export class MemoryResponse implements Client {
  readonly #maxBytes: number;
  readonly #hold: ByteReservation;
  readonly #headers: string[] = [];
  readonly #pieces: Buffer[] = [];
  #bytes = 0;
  #status: number | null = null;
  #state: 'open' | 'complete' | 'broken-off' | 'disconnected' = 'open';
  #lacksRoom = false;
  #onDisconnect: (() => void) | null = null;

  /**
   * @param maxBytes of the body
   * @param hold counts the bytes; the caller releases it when it no longer needs the response
   */
  constructor(maxBytes: number, hold: ByteReservation) {
    this.#maxBytes = maxBytes;
    this.#hold = hold;
  }

  /** True if the response was aborted because the node has no room. */
  get lacksRoom(): boolean {
    return this.#lacksRoom;
  }

  /** The status; null until the response has begun. */
  get status(): number | null {
    return this.#status;
  }

  /** The headers by lower-case name. If a name occurs twice, the last value counts. */
  get headers(): Readonly<Record<string, string>> {
    const pairs: [string, string][] = [];
    for (let at = 0; at < this.#headers.length; at += 2) {
      pairs.push([(this.#headers[at] ?? '').toLowerCase(), this.#headers[at + 1] ?? '']);
    }
    return Object.fromEntries(pairs);
  }

  get body(): Buffer {
    return Buffer.concat(this.#pieces, this.#bytes);
  }

  get isComplete(): boolean {
    return this.#state === 'complete';
  }

  get isDisconnected(): boolean {
    return this.#state === 'disconnected';
  }

  addHeaders(headers: ReadonlyArray<string>): void {
    this.#headers.push(...headers);
  }

  send(status: number, headers: ReadonlyArray<string>, body: string | Buffer): void {
    this.start(status, headers);
    this.write(body);
    this.end();
  }

  start(status: number, headers: ReadonlyArray<string>): void {
    if (this.#state !== 'open') return;
    this.#status = status;
    this.addHeaders(headers);
  }

  write(bytes: Buffer | string): boolean {
    if (this.#state !== 'open') return true;
    const piece = Buffer.from(bytes);
    const isTooLong = this.#bytes + piece.length > this.#maxBytes;
    this.#lacksRoom = !isTooLong && !this.#hold.takeBegun(piece.length);
    if (isTooLong || this.#lacksRoom) {
      this.disconnect();
      return true;
    }
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    return true;
  }

  /** Memory is never slower than the writer, so there is nothing to wait for. */
  onceDrained(listener: () => void): void {
    queueMicrotask(listener);
  }

  end(): void {
    if (this.#state === 'open') this.#state = 'complete';
  }

  destroy(): void {
    if (this.#state === 'open') this.#state = 'broken-off';
  }

  onDisconnect(listener: (() => void) | null): void {
    this.#onDisconnect = listener;
    if (this.isDisconnected) listener?.();
  }

  /** Ends a response that the caller no longer needs. */
  disconnect(): void {
    if (this.#state !== 'open') return;
    this.#state = 'disconnected';
    this.#onDisconnect?.();
  }
}

/** A text of any length, which is made while it is sent. */
export interface TextStream {
  readonly contentType: string;
  /** An error here interrupts the answer, so that a part does not look like the whole. */
  readonly chunks: AsyncIterable<string>;
}
