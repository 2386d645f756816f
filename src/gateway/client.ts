import type { ServerResponse } from 'node:http';
import type { Context } from 'koa';
import { writeAnswer } from '#http/answer.ts';
import type { ErrorResponse } from './attempt-failure.ts';

/** Headers of every answer of the gateway, names and values in turn. */
const always = ['Cache-Control', 'no-store'];

/** How long a client may stand still once all that it is sent has been written. */
const takingMilliseconds = 60_000;

/** The caller's side of a call: what is written to it, and whether it is still there. */
export class ClientResponse {
  readonly #ctx: Context;
  readonly #res: ServerResponse;
  readonly #fields: ReadonlyArray<string>;
  #onGone: (() => void) | null = null;
  #onDrain: (() => void) | null = null;
  #gone = false;

  /** @param fields further headers of every answer: the key's limits */
  constructor(ctx: Context, fields: ReadonlyArray<string>) {
    this.#ctx = ctx;
    this.#res = ctx.res;
    this.#fields = fields;
    this.#gone = ctx.res.destroyed;
    ctx.res.once('close', this.#closed);
    // A call has limits of its own: the server's would end one that waits long for a model.
    ctx.req.socket.setTimeout(0);
  }

  /** Whether it left before its answer was complete. */
  get isDisconnected(): boolean {
    return this.#gone;
  }

  /** Whether an answer has begun. */
  get hasBegun(): boolean {
    return this.#res.headersSent;
  }

  /** Calls back once, when the client leaves before its answer is complete; at once when it has left. */
  set onDisconnect(listener: (() => void) | null) {
    this.#onGone = listener;
    if (this.#gone) listener?.();
  }

  /** Writes a whole answer. @param fields names and values in turn */
  send(status: number, fields: ReadonlyArray<string>, body: string | Buffer): void {
    writeAnswer(this.#ctx, status, [...always, ...this.#fields, ...fields], body);
    this.#setWriteTimeout();
  }

  /** Writes why there is no answer. */
  refuse(word: ErrorResponse, fields: ReadonlyArray<string> = []): void {
    const { status, body, contentType, retryAfterMs, shouldRetry } = word;
    const all = ['Content-Type', contentType, ...fields];
    if (retryAfterMs !== null) {
      all.push('Retry-After', String(Math.max(1, Math.ceil(retryAfterMs / 1_000))));
      all.push('Retry-After-Ms', String(retryAfterMs));
    }
    if (shouldRetry !== null) all.push('X-Should-Retry', shouldRetry);
    this.send(status, all, body);
  }

  /** Begins an answer that comes in pieces. */
  start(status: number, fields: ReadonlyArray<string>): void {
    if (this.#gone) return;
    const { requestId } = this.#ctx.state as { readonly requestId: string };
    const headers = [
      'X-Content-Type-Options',
      'nosniff',
      'X-Request-Id',
      requestId,
      ...always,
      ...this.#fields,
      ...fields,
    ];
    this.#res.writeHead(status, headers);
  }

  /** Writes a piece. @returns false when the client reads slower than this: wait for `whenDrained` */
  write(bytes: Buffer | string): boolean {
    return this.#gone || this.#res.write(bytes);
  }

  /** Calls back once, when what was written has been taken. */
  whenDrained(listener: () => void): void {
    if (this.#onDrain === null) this.#res.on('drain', this.#drained);
    this.#onDrain = listener;
  }

  /** Ends an answer in pieces. */
  end(): void {
    if (this.#gone) return;
    this.#res.end();
    this.#setWriteTimeout();
  }

  /** Ends it so that the client cannot take what it has for everything. */
  destroy(): void {
    this.#res.destroy();
  }

  #setWriteTimeout(): void {
    // Most answers are out at once: the server then has its own limit for what comes next.
    if (!this.#res.writableFinished) this.#ctx.req.socket.setTimeout(takingMilliseconds);
  }

  readonly #drained = (): void => {
    const listener = this.#onDrain;
    this.#onDrain = () => undefined;
    listener?.();
  };

  readonly #closed = (): void => {
    if (this.#res.writableFinished) return;
    this.#gone = true;
    this.#onGone?.();
  };
}
