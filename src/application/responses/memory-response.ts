import type { ResponseSink } from './response-sink.ts';

/**
 * Keeps a response in memory: for a call that has no connection, such as one of a batch.
 * A response of more than `maxBytes` is broken off, as if its receiver had left.
 */
export class MemoryResponse implements ResponseSink {
  readonly #maxBytes: number;
  readonly #headers: string[] = [];
  readonly #pieces: Buffer[] = [];
  #bytes = 0;
  #status: number | null = null;
  #state: 'open' | 'complete' | 'broken-off' | 'disconnected' = 'open';
  #onDisconnect: (() => void) | null = null;

  /** @param maxBytes the most bytes of a body that are kept */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Null until the response has begun. */
  get status(): number | null {
    return this.#status;
  }

  /** By lower-case name; of a name that comes twice, the last value. */
  get headers(): Readonly<Record<string, string>> {
    const pairs: [string, string][] = [];
    for (let at = 0; at + 1 < this.#headers.length; at += 2) {
      pairs.push([(this.#headers[at] ?? '').toLowerCase(), this.#headers[at + 1] ?? '']);
    }
    return Object.fromEntries(pairs);
  }

  /** The body so far. */
  get body(): Buffer {
    return Buffer.concat(this.#pieces, this.#bytes);
  }

  /** Whether all of the response was written. */
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
    if (this.#bytes + piece.length > this.#maxBytes) {
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

  /** Ends the call from the receiver's side: its response is not wanted any more. */
  disconnect(): void {
    if (this.#state !== 'open') return;
    this.#state = 'disconnected';
    this.#onDisconnect?.();
  }
}
