import type { Socket } from 'node:net';

/** A fault of a connection, which is not used again afterwards. */
export type ConnectionFault = 'excess-bytes' | 'early-answer';

/**
 * One connection to a provider after the other, each with one call at a time. An answer belongs to the request whose
 * turn it is, and nothing else ties them together. So bytes between two calls, and an answer that does not wait for its
 * request, end the connection: what comes next could be the answer to another tenant.
 */
export class ProviderConnection {
  readonly #onFault: (fault: ConnectionFault) => void;
  #socket: Socket | null = null;
  #isNew = false;
  #isCarrying = false;
  /** Bytes that had come when the last call ended. */
  #bytesAtRest = 0;

  constructor(onFault: (fault: ConnectionFault) => void) {
    this.#onFault = onFault;
  }

  /** undici gives a new connection its first call in the same turn. */
  get isNew(): boolean {
    return this.#isNew;
  }

  /** True if the operating system has all bytes of the connection. */
  get hasSentAll(): boolean {
    return this.#socket === null || this.#socket.writableLength === 0;
  }

  open(socket: Socket): void {
    this.#socket = socket;
    this.#isCarrying = false;
    this.#bytesAtRest = 0;
    this.#isNew = true;
    queueMicrotask(() => {
      this.#isNew = false;
    });
    socket.on('readable', () => {
      if (!this.#isCarrying && socket.bytesRead > this.#bytesAtRest) this.close('excess-bytes');
    });
  }

  beginCall(): void {
    this.#isCarrying = true;
  }

  /** Ends the call, whose answer is complete. */
  endCall(): void {
    const socket = this.#socket;
    if (socket === null) return;
    this.#isCarrying = false;
    this.#bytesAtRest = socket.bytesRead;
    // undici still parses what came in the same read. It destroys the connection with an error when that is too much.
    queueMicrotask(() => {
      if (hasFailed(socket)) this.#onFault('excess-bytes');
    });
  }

  close(fault: ConnectionFault): void {
    if (this.#socket === null || this.#socket.destroyed) return;
    this.#socket.destroy();
    this.#onFault(fault);
  }
}

/** Whether a connection is closed for another reason than that undici does not keep it. */
function hasFailed({ errored }: Socket): boolean {
  return errored !== null && (errored as { readonly code?: unknown }).code !== 'UND_ERR_INFO';
}
