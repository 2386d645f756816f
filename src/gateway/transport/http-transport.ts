import type { IncomingHttpHeaders } from 'node:http';
import { createRequire } from 'node:module';
import type { Readable } from 'node:stream';
import type { Dispatcher, Pool } from 'undici';
import type { Transport, UpstreamCall, UpstreamListener, UpstreamRequest } from './transport.ts';

/**
 * The most connections to one provider, for streamed answers and for others. Each call needs its own connection, so
 * with a low limit a few slow answers would delay all others.
 */
const maxConnections = 4_096;

/** How long a connection may be idle before it is used again, if the provider does not say when it closes it. */
const maxIdleMs = 4_000;
/** If the provider says it (`Keep-Alive: timeout`), the connection is used until this long before. */
const idleMarginMs = 1_000;

/** The error of an abandoned call that is still in undici's queue. */
const abandoned = new Error('The call was abandoned');

/** The errors of a closed connection. A body that cannot be read has others. */
const closings = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

/** Loads undici with the first provider that uses HTTP, because it is a tenth of what a start loads. */
const loadUndici = (): typeof import('undici') => createRequire(import.meta.url)('undici');

/** Calls over HTTP/1.1 on kept connections. The caller limits the times, so undici's own limits are off. */
export class HttpTransport implements Transport {
  readonly #streams: Connections;
  readonly #others: Connections;

  /**
   * @param origin scheme, host and port
   * @param connectMs the time to connect, also after the call that began it was abandoned
   */
  constructor(origin: string, connectMs: number) {
    this.#streams = new Connections(origin, connectMs);
    this.#others = new Connections(origin, connectMs);
  }

  call(request: UpstreamRequest, listener: UpstreamListener): UpstreamCall {
    const call = new HttpCall(request.streams ? this.#streams : this.#others, request, listener);
    call.start();
    return call;
  }

  async close(): Promise<void> {
    await Promise.all([this.#streams.pool.close(), this.#others.pool.close()]);
  }
}

/** Connections to a provider, and whether one of them has just been made. */
class Connections {
  readonly pool: Pool;
  /** True while a new connection gets its first request, which undici does in the same turn. */
  isNew = false;

  constructor(origin: string, connectMs: number) {
    const undici = loadUndici();
    this.pool = new undici.Pool(origin, {
      connections: maxConnections,
      pipelining: 1,
      keepAliveTimeout: maxIdleMs,
      keepAliveTimeoutThreshold: idleMarginMs,
      headersTimeout: 0,
      bodyTimeout: 0,
      connectTimeout: connectMs,
    });
    this.pool.on('connect', () => {
      this.isNew = true;
      queueMicrotask(this.#markOld);
    });
  }

  readonly #markOld = (): void => {
    this.isNew = false;
  };
}

class HttpCall implements UpstreamCall, Dispatcher.DispatchHandler {
  readonly #connections: Connections;
  readonly #request: UpstreamRequest;
  readonly #listener: UpstreamListener;
  #controller: Dispatcher.DispatchController | null = null;
  #stored: Readable | null = null;
  #over = false;
  #sending = false;
  /** Whether a kept connection carries it that has not been given any byte of it. */
  #isUnsentOnKept = false;

  constructor(connections: Connections, request: UpstreamRequest, listener: UpstreamListener) {
    this.#connections = connections;
    this.#request = request;
    this.#listener = listener;
  }

  readonly start = (): void => {
    if (this.#over) return;
    const { method = 'POST', path, headers, body } = this.#request;
    if (Buffer.isBuffer(body)) {
      this.#connections.pool.dispatch({ method, path, headers: headers as string[], body }, this);
      return;
    }
    const stored = body.open();
    this.#stored = stored;
    stored.on('data', this.#sent);
    // undici reports the error to the listener while the call runs. After that it does not matter.
    stored.on('error', () => undefined);
    stored.pause();
    const all = [...headers, 'content-length', String(body.bytes)];
    this.#connections.pool.dispatch({ method, path, headers: all, body: stored }, this);
    if (this.#over) stored.destroy();
  };

  readonly #sent = (): void => {
    this.#isUnsentOnKept = false;
    if (!this.#over && this.#sending) this.#listener.onSent();
  };

  abort(): void {
    if (this.#over) return;
    this.#over = true;
    this.#stored?.destroy();
    this.#controller?.abort(abandoned);
  }

  pause(): void {
    if (!this.#over) this.#controller?.pause();
  }

  resume(): void {
    if (!this.#over) this.#controller?.resume();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // The call was abandoned while it waited for a connection. This error ends it, and leaves the connection to
    // others.
    if (this.#over) throw abandoned;
    this.#controller = controller;
    this.#sending = true;
    // undici gives the bytes of a body in memory to the connection in this turn.
    this.#isUnsentOnKept = this.#stored !== null && !this.#connections.isNew;
    this.#listener.onSent();
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.#isUnsentOnKept = false;
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
    this.#stored?.destroy();
    if (this.#isUnsent(error)) {
      // The connection is still being closed.
      queueMicrotask(this.start);
      return;
    }
    this.#over = true;
    this.#listener.onError(error);
  }

  /**
   * Whether a kept connection has closed before any byte of the request was given to it. Then the provider cannot have
   * seen the request, so that another connection may carry it. undici does the same before a connection carries it.
   */
  #isUnsent(error: Error & { readonly code?: unknown }): boolean {
    return this.#isUnsentOnKept && closings.has(String(error.code));
  }
}
