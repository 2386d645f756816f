import type { IncomingHttpHeaders } from 'node:http';
import { createRequire } from 'node:module';
import type { Readable } from 'node:stream';
import type { buildConnector, Client, Dispatcher, Pool } from 'undici';
import { DecompressedStream } from './decompressed-stream.ts';
import { type ConnectionFault, ProviderConnection } from './provider-connection.ts';
import type { Transport, UpstreamCall, UpstreamListener, UpstreamRequest } from './transport.ts';

/**
 * Maximum number of connections to one provider, for streamed answers and for others. Each call needs its own
 * connection, so with a low limit a few slow answers would delay all others.
 */
const maxConnections = 4_096;

/** An idle connection is used again within this time, if the provider does not say when it closes it. */
const maxIdleMs = 4_000;
/**
 * If the provider says when it closes a connection (`Keep-Alive: timeout`), the connection is used until this long
 * before.
 */
const idleMarginMs = 1_000;

/** The error of a call that is still in undici's queue. */
const abandoned = new Error('The call was abandoned');

/** The error if the connection gave a call what belongs to another request. */
const foreignAnswer = new Error('The answer began before the request was written');

/** Errors of a closed connection. A body that cannot be read has others. */
const closings = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);

/** undici is a tenth of what a start loads, so it waits for the first provider that uses HTTP. */
const loadUndici = (): typeof import('undici') => createRequire(import.meta.url)('undici');

/** A transport over HTTP/1.1 on kept connections. The caller limits the times, so undici's own limits are off. */
export class HttpTransport implements Transport {
  readonly #streams: Pool;
  readonly #others: Pool;

  /**
   * @param origin scheme, host and port
   * @param connectMs to connect, also after the call that began it was abandoned
   * @param onFault called for each connection that is closed because of what the provider sent. It must not throw
   */
  constructor(origin: string, connectMs: number, onFault: (fault: ConnectionFault) => void) {
    this.#streams = openPool(origin, connectMs, onFault);
    this.#others = openPool(origin, connectMs, onFault);
  }

  call(request: UpstreamRequest, listener: UpstreamListener): UpstreamCall {
    return request.streams
      ? new DecompressedStream(listener, (decompressing) => begin(this.#streams, request, decompressing))
      : begin(this.#others, request, listener);
  }

  async close(): Promise<void> {
    await Promise.all([this.#streams.close(), this.#others.close()]);
  }
}

function begin(pool: Pool, request: UpstreamRequest, listener: UpstreamListener): HttpCall {
  const call = new HttpCall(pool, request, listener);
  call.start();
  return call;
}

/** A request that undici's pool passes to the connection that carries it. */
interface CarriedRequest extends Dispatcher.DispatchOptions {
  readonly call: HttpCall;
}

function openPool(origin: string, connectMs: number, onFault: (fault: ConnectionFault) => void): Pool {
  const undici = loadUndici();
  return new undici.Pool(origin, {
    connections: maxConnections,
    pipelining: 1,
    keepAliveTimeout: maxIdleMs,
    keepAliveTimeoutThreshold: idleMarginMs,
    headersTimeout: 0,
    bodyTimeout: 0,
    connectTimeout: connectMs,
    factory: (url, options) =>
      openClient(undici.Client, url, options as ClientOptions, new ProviderConnection(onFault)),
  });
}

type ClientOptions = Client.Options & { readonly connect: buildConnector.connector };

/** Opens a client of one connection, and lets each call that it carries know the connection. */
function openClient(
  UndiciClient: typeof Client,
  url: URL,
  options: ClientOptions,
  connection: ProviderConnection,
): Client {
  const connect: buildConnector.connector = (to, callback) =>
    options.connect(to, (...opened) => {
      if (opened[0] === null) connection.open(opened[1]);
      callback(...opened);
    });
  const client = new UndiciClient(url, { ...options, connect });
  const dispatch = client.dispatch.bind(client);
  client.dispatch = (request, handler) => {
    (request as CarriedRequest).call.connection = connection;
    return dispatch(request, handler);
  };
  return client;
}

interface AnswerHead {
  readonly controller: Dispatcher.DispatchController;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
}

class HttpCall implements UpstreamCall, Dispatcher.DispatchHandler {
  /** The connection; null before one carries the call. */
  connection: ProviderConnection | null = null;
  readonly #pool: Pool;
  readonly #request: UpstreamRequest;
  readonly #listener: UpstreamListener;
  #controller: Dispatcher.DispatchController | null = null;
  #stored: Readable | null = null;
  #over = false;
  #sending = false;
  #isOnKept = false;
  /** Whether a kept connection carries it that has not been given any byte of it. */
  #isUnsentOnKept = false;
  /** The number of bytes of a stored body that its connection does not have yet. */
  #bytesLeft = 0;
  /** True if the latest answer, which may be an informational one, began before the request's end was sent. */
  #isEarlyAnswer = false;
  /** Whether the end of this turn decides that. */
  #isDeciding = false;
  /** The head that waits for the decision. */
  #waitingHead: AnswerHead | null = null;
  #isPaused = false;

  constructor(pool: Pool, request: UpstreamRequest, listener: UpstreamListener) {
    this.#pool = pool;
    this.#request = request;
    this.#listener = listener;
  }

  readonly start = (): void => {
    if (this.#over) return;
    const { method = 'POST', path, headers, body } = this.#request;
    if (Buffer.isBuffer(body)) {
      this.#dispatch({ call: this, method, path, headers: headers as string[], body });
      return;
    }
    const stored = body.open();
    this.#stored = stored;
    this.#bytesLeft = body.bytes;
    stored.on('data', this.#sent);
    // undici reports the error to the listener while the call runs. After that it does not matter.
    stored.on('error', () => undefined);
    stored.pause();
    const all = [...headers, 'content-length', String(body.bytes)];
    this.#dispatch({ call: this, method, path, headers: all, body: stored });
    if (this.#over) stored.destroy();
  };

  #dispatch(request: CarriedRequest): void {
    this.#pool.dispatch(request, this);
  }

  readonly #sent = (piece: Buffer): void => {
    this.#isUnsentOnKept = false;
    this.#bytesLeft -= piece.length;
    if (!this.#over && this.#sending) this.#listener.onSent();
  };

  abort(): void {
    if (this.#over) return;
    this.#over = true;
    this.#stored?.destroy();
    this.#controller?.abort(abandoned);
  }

  pause(): void {
    this.#isPaused = true;
    if (!this.#over) this.#controller?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    if (!this.#over && this.#waitingHead === null) this.#controller?.resume();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // The call was abandoned while it waited for a connection. This error ends it, and leaves the connection to
    // others.
    if (this.#over) throw abandoned;
    this.#controller = controller;
    this.#sending = true;
    // undici gives the bytes of a body in memory to the connection in this turn.
    this.#isOnKept = this.connection?.isNew === false;
    this.#isUnsentOnKept = this.#stored !== null && this.#isOnKept;
    this.connection?.beginCall();
    this.#listener.onSent();
  }

  /** undici calls it for the first byte of an answer. */
  onResponseStarted(): void {
    this.#isEarlyAnswer = this.#bytesLeft > 0;
    if (this.#isEarlyAnswer || this.#isDeciding || this.connection?.hasSentAll !== false) return;
    // TLS says at the end of a turn that the last bytes are sent. The answer to them may be read before.
    this.#isDeciding = true;
    setImmediate(this.#decide);
  }

  readonly #decide = (): void => {
    this.#isDeciding = false;
    this.#isEarlyAnswer ||= this.connection?.hasSentAll === false;
    const head = this.#waitingHead;
    this.#waitingHead = null;
    if (this.#over || head === null) return;
    // undici handles the errors of its own callbacks, and this is none.
    try {
      this.#begin(head);
      if (!this.#isPaused) head.controller.resume();
    } catch (error) {
      head.controller.abort(error as Error);
    }
  };

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.#isUnsentOnKept = false;
    // Informational answers come before the one that counts.
    if (status < 200 || this.#over) return;
    this.#sending = false;
    const head = { controller, status, headers };
    if (!this.#isDeciding) {
      this.#begin(head);
      return;
    }
    this.#waitingHead = head;
    controller.pause();
  }

  #begin({ controller, status, headers }: AnswerHead): void {
    // A refusal may come early. A served answer that comes early on a kept connection is that of another request.
    if (this.#isEarlyAnswer && this.#isOnKept && status < 300) {
      this.connection?.close('early-answer');
      controller.abort(foreignAnswer);
      return;
    }
    this.#listener.onHeaders(status, headers);
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#over) this.#listener.onData(chunk);
  }

  onResponseEnd(controller: Dispatcher.DispatchController): void {
    // The connection has ended in this turn, and its answer with it.
    if (this.#waitingHead !== null) {
      this.onResponseError(controller, foreignAnswer);
      return;
    }
    this.connection?.endCall();
    if (this.#isEarlyAnswer) this.connection?.close('early-answer');
    // An early answer may end before the file is read.
    this.#stored?.destroy();
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
   * A kept connection closed before it got any byte of the request. The provider cannot have seen the request, so that
   * another connection may carry it. undici does the same before a connection carries it.
   */
  #isUnsent(error: Error & { readonly code?: unknown }): boolean {
    return this.#isUnsentOnKept && closings.has(String(error.code));
  }
}
