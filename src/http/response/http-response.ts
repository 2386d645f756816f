import type { ServerResponse } from 'node:http';
import type { Context } from 'koa';
import type { Client } from '#exchange/client.ts';
import { requestContextOf } from '#http/request/request-context.ts';
import { startResponse, writeResponse } from './response.ts';

/** The response to an HTTP request, written to its connection. */
export class HttpResponse implements Client {
  readonly #ctx: Context;
  readonly #res: ServerResponse;
  #headers: ReadonlyArray<string> = [];
  #isDisconnected: boolean;
  #isOpen = false;
  #onDisconnect: (() => void) | null = null;
  #onDrained: (() => void) | null = null;

  constructor(ctx: Context) {
    this.#ctx = ctx;
    this.#res = ctx.res;
    this.#isDisconnected = ctx.res.destroyed;
  }

  /** Most operations do not write their answer themselves, so their requests need no listener. */
  #open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#isDisconnected ||= this.#res.destroyed;
    // Once: a kept connection keeps its last response, which must not keep the call.
    this.#res.once('close', this.#handleClose);
    // A streamed call has its own limits, and `OpenAnswers` ends one that is not read. The server's limits would end a
    // call that waits long for a model.
    this.#ctx.req.socket.setTimeout(0);
  }

  get isDisconnected(): boolean {
    return this.#isDisconnected;
  }

  /** An operation that writes its answer itself begins with this. */
  addHeaders(headers: ReadonlyArray<string>): void {
    this.#open();
    this.#headers = this.#headers.length === 0 ? headers : [...this.#headers, ...headers];
  }

  send(status: number, headers: ReadonlyArray<string>, body: string | Buffer): void {
    writeResponse(this.#ctx, status, [...this.#headers, ...headers], body);
  }

  start(status: number, headers: ReadonlyArray<string>): void {
    if (this.#isDisconnected) return;
    startResponse(this.#ctx, status, [...this.#headers, ...headers]);
    if (this.#ctx.req.method === 'HEAD') this.#endHead();
  }

  write(bytes: Buffer | string): boolean {
    if (this.#isDisconnected || this.#res.write(bytes)) return true;
    requestContextOf(this.#ctx).openAnswers?.count(this.#res);
    return false;
  }

  onceDrained(listener: () => void): void {
    if (this.#onDrained === null) this.#res.on('drain', this.#handleDrain);
    this.#onDrained = listener;
  }

  end(): void {
    if (this.#isDisconnected) return;
    this.#res.end();
  }

  /** Closes the connection. */
  destroy(): void {
    this.#res.destroy();
  }

  onDisconnect(listener: (() => void) | null): void {
    this.#onDisconnect = listener;
    if (this.#isDisconnected) listener?.();
  }

  /** A client that asks only for the headers receives no body, so an endless one must end. */
  #endHead(): void {
    this.#res.end();
    this.#isDisconnected = true;
    this.#onDisconnect?.();
  }

  readonly #handleDrain = (): void => {
    requestContextOf(this.#ctx).openAnswers?.count(this.#res);
    const listener = this.#onDrained;
    this.#onDrained = ignore;
    listener?.();
  };

  readonly #handleClose = (): void => {
    if (this.#res.writableFinished) return;
    this.#isDisconnected = true;
    this.#onDisconnect?.();
  };
}

function ignore(): void {}
