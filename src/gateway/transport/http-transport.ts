import type { IncomingHttpHeaders } from 'node:http';
import { createRequire } from 'node:module';
import type { Readable } from 'node:stream';
import type { Dispatcher, Pool } from 'undici';
import type { Transport, UpstreamCall, UpstreamListener, UpstreamRequest } from './transport.ts';

/**
 * Connections to one provider at most, for answers that stream and for those that do not. Each call needs one of its
 * own: a low cap would let a few slow answers hold up all others.
 */
const maxConnections = 4_096;

const keepAliveTimeoutMs = 30_000;

/** What a call that was given up leaves behind in undici's queue. */
const givenUp = new Error('The call was given up');

/** How soon it shows that the provider had closed a kept connection when a request went out on it. */
const closeRaceMs = 1_000;
/** How that shows: the connection ended or broke; nothing came that could not be read. */
const closings = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

/** Loads undici with the first provider that is called over HTTP, because it is a tenth of what a start loads. */
const loadUndici = (): typeof import('undici') => createRequire(import.meta.url)('undici');

/** Calls over HTTP/1.1, with connections kept. Time limits are the caller's: undici's own are off. */
export class HttpTransport implements Transport {
  readonly #streams: Connections;
  readonly #others: Connections;

  /**
   * @param origin scheme, host and port
   * @param connectMs how long connecting may take, also when the call that began it was abandoned
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
  /** True while a new connection is given its first request, which undici does in the same turn. */
  isNew = false;

  constructor(origin: string, connectMs: number) {
    const undici = loadUndici();
    this.pool = new undici.Pool(origin, {
      connections: maxConnections,
      pipelining: 1,
      keepAliveTimeout: keepAliveTimeoutMs,
      headersTimeout: 0,
      bodyTimeout: 0,
      connectTimeout: connectMs,
    });
    this.pool.on('connect', () => {
      this.isNew = true;
      queueMicrotask(this.#getsOld);
    });
  }

  readonly #getsOld = (): void => {
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
  /** When it went out on a connection that had been kept; null when it did not, or an answer has begun. */
  #sentOnKeptAt: number | null = null;
  #isSecond = false;

  constructor(connections: Connections, request: UpstreamRequest, listener: UpstreamListener) {
    this.#connections = connections;
    this.#request = request;
    this.#listener = listener;
  }

  readonly start = (): void => {
    if (this.#over) return;
    const { path, headers, body } = this.#request;
    if (Buffer.isBuffer(body)) {
      this.#connections.pool.dispatch({ method: 'POST', path, headers: headers as string[], body }, this);
      return;
    }
    const stored = body.open();
    this.#stored = stored;
    stored.on('data', this.#sent);
    // undici reports it to the listener while the call runs; after that it does not matter.
    stored.on('error', () => undefined);
    stored.pause();
    const all = [...headers, 'content-length', String(body.bytes)];
    this.#connections.pool.dispatch({ method: 'POST', path, headers: all, body: stored }, this);
    if (this.#over) stored.destroy();
  };

  readonly #sent = (): void => {
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
    this.#sentOnKeptAt = this.#connections.isNew ? null : performance.now();
    this.#listener.onSent();
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.#sentOnKeptAt = null;
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
    if (this.#wasClosedMeanwhile(error)) {
      this.#isSecond = true;
      // The connection is still being taken down.
      queueMicrotask(this.start);
      return;
    }
    this.#over = true;
    this.#listener.onError(error);
  }

  /** A provider may close a kept connection just when it is used again: that says nothing of the request. */
  #wasClosedMeanwhile(error: Error & { readonly code?: unknown }): boolean {
    if (this.#isSecond || this.#sentOnKeptAt === null || !closings.has(String(error.code))) return false;
    return performance.now() - this.#sentOnKeptAt < closeRaceMs;
  }
}
