import type { ByteHold } from '#application/access/byte-budget.ts';
import type { ResponseSink } from './response-sink.ts';

/**
 * Keeps a response in memory, for a call without a connection, such as a line of a batch.
 * A response of more than `maxBytes`, or for which the node has no room, is aborted, as if its receiver had disconnected.
 */
export class MemoryResponse implements ResponseSink {
  readonly #maxBytes: number;
  readonly #hold: ByteHold;
  readonly #headers: string[] = [];
  readonly #pieces: Buffer[] = [];
  #bytes = 0;
  #status: number | null = null;
  #state: 'open' | 'complete' | 'broken-off' | 'disconnected' = 'open';
  #lacksRoom = false;
  #onDisconnect: (() => void) | null = null;

  /**
   * @param maxBytes the most bytes of a body
   * @param hold counts the bytes; the caller releases it when it needs the response no more
   */
  constructor(maxBytes: number, hold: ByteHold) {
    this.#maxBytes = maxBytes;
    this.#hold = hold;
  }

  /** Whether it was aborted because the node has no room for it. */
  get lacksRoom(): boolean {
    return this.#lacksRoom;
  }

  /** Null until the response has begun. */
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

  /** The body so far. */
  get body(): Buffer {
    return Buffer.concat(this.#pieces, this.#bytes);
  }

  /** Whether the response is complete. */
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

  /** Ends the call as its receiver, which does not need the response any more. */
  disconnect(): void {
    if (this.#state !== 'open') return;
    this.#state = 'disconnected';
    this.#onDisconnect?.();
  }
}
