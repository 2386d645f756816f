import type { IncomingHttpHeaders } from 'node:http';
import { type Dispatcher, Pool } from 'undici';
import type { Transport, UpstreamCall, UpstreamListener, UpstreamRequest } from './transport.ts';

/**
 * Connections to one provider at most, for answers that stream and for those that do not. Each call needs one of its
 * own: a low cap would let a few slow answers hold up all others.
 */
const connectionsAtMost = 4_096;

const keepAliveMilliseconds = 30_000;

/** What a call that was given up leaves behind in undici's queue. */
const givenUp = new Error('The call was given up');

/** Calls over HTTP/1.1, with connections kept. Time limits are the caller's: undici's own are off. */
export class HttpTransport implements Transport {
  readonly #streams: Pool;
  readonly #others: Pool;

  /**
   * @param origin scheme, host and port
   * @param connectMs how long an attempt to connect may go on, also when the call that began it has been given up
   */
  constructor(origin: string, connectMs: number) {
    const options: Pool.Options = {
      connections: connectionsAtMost,
      pipelining: 1,
      keepAliveTimeout: keepAliveMilliseconds,
      headersTimeout: 0,
      bodyTimeout: 0,
      connectTimeout: connectMs,
    };
    this.#streams = new Pool(origin, options);
    this.#others = new Pool(origin, options);
  }

  call(request: UpstreamRequest, listener: UpstreamListener): UpstreamCall {
    const call = new HttpCall(listener);
    const { path, headers, body } = request;
    const pool = request.streams ? this.#streams : this.#others;
    if (Buffer.isBuffer(body)) {
      pool.dispatch({ method: 'POST', path, headers: headers as string[], body }, call);
      return call;
    }
    const stored = body.open();
    stored.on('data', call.sent);
    // Told to the listener by undici while the call runs; nobody's concern when it is over.
    stored.on('error', () => undefined);
    stored.pause();
    const all = [...headers, 'content-length', String(body.bytes)];
    pool.dispatch({ method: 'POST', path, headers: all, body: stored }, call);
    call.uses(stored);
    return call;
  }

  async close(): Promise<void> {
    await Promise.all([this.#streams.close(), this.#others.close()]);
  }
}

class HttpCall implements UpstreamCall, Dispatcher.DispatchHandler {
  readonly #listener: UpstreamListener;
  #controller: Dispatcher.DispatchController | null = null;
  #stored: { readonly destroy: () => unknown } | null = null;
  #over = false;
  #sending = false;

  constructor(listener: UpstreamListener) {
    this.#listener = listener;
  }

  /** The body to be closed with the call. */
  uses(stored: { readonly destroy: () => unknown }): void {
    this.#stored = stored;
    if (this.#over) stored.destroy();
  }

  readonly sent = (): void => {
    if (!this.#over && this.#sending) this.#listener.onSent();
  };

  abort(): void {
    if (this.#over) return;
    this.#over = true;
    this.#stored?.destroy();
    this.#controller?.abort(givenUp);
  }

  pause(): void {
    if (!this.#over) this.#controller?.pause();
  }

  resume(): void {
    if (!this.#over) this.#controller?.resume();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Given up while it waited for a connection: what is thrown here ends it and leaves the connection to others.
    if (this.#over) throw givenUp;
    this.#controller = controller;
    this.#sending = true;
    this.#listener.onSent();
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    // Informational answers come before the one that counts.
    if (status < 200 || this.#over) return;
    this.#sending = false;
    this.#listener.onHeaders(status, headers);
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#over) this.#listener.onData(chunk);
  }

  onResponseEnd(): void {
    if (this.#over) return;
    this.#over = true;
    this.#listener.onEnd();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (this.#over) return;
    this.#over = true;
    this.#stored?.destroy();
    this.#listener.onError(error);
  }
}
