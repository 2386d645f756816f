import type { JsonObject } from '#shared/json/json.ts';
import type { Transport, UpstreamCall, UpstreamListener, UpstreamRequest } from './transport.ts';

export interface LocalAnswer {
  readonly status: number;
  readonly contentType: string;
  /** The pieces, each of which is sent in a separate turn of the event loop. */
  readonly pieces: Iterable<Buffer>;
}

export class LocalTransport implements Transport {
  readonly #answer: (request: UpstreamRequest) => Promise<LocalAnswer>;

  constructor(answer: (request: UpstreamRequest) => Promise<LocalAnswer>) {
    this.#answer = answer;
  }

  call(request: UpstreamRequest, listener: UpstreamListener): UpstreamCall {
    const call = new LocalCall(listener);
    setImmediate(() => void call.run(() => this.#answer(request)));
    return call;
  }

  async close(): Promise<void> {
    // Nothing is open.
  }
}

class LocalCall implements UpstreamCall {
  readonly #listener: UpstreamListener;
  #over = false;
  #wake: (() => void) | null = null;
  #paused = false;

  constructor(listener: UpstreamListener) {
    this.#listener = listener;
  }

  async run(answer: () => Promise<LocalAnswer>): Promise<void> {
    if (this.#over) return;
    this.#listener.onSent();
    try {
      const { status, contentType, pieces } = await answer();
      if (this.#over) return;
      this.#listener.onHeaders(status, { 'content-type': contentType });
      for (const piece of pieces) {
        await this.#turn();
        if (this.#over) return;
        this.#listener.onData(piece);
      }
      await this.#turn();
      if (this.#over) return;
      this.#over = true;
      this.#listener.onEnd();
    } catch (error) {
      if (this.#over) return;
      this.#over = true;
      this.#listener.onError(error instanceof Error ? error : new Error(String(error)));
    }
  }

  abort(): void {
    this.#over = true;
    this.#wake?.();
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#wake?.();
  }

  /** Waits for the next turn of the event loop, and until data may come. */
  async #turn(): Promise<void> {
    await new Promise(setImmediate);
    while (this.#paused && !this.#over) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
      this.#wake = null;
    }
  }
}

export function jsonAnswer(value: JsonObject, status = 200): LocalAnswer {
  return { status, contentType: 'application/json', pieces: [Buffer.from(JSON.stringify(value))] };
}

export function refusalAnswer(code: string, message: string): LocalAnswer {
  return jsonAnswer({ error: { message, type: 'invalid_request_error', param: null, code } }, 400);
}

export function textAnswer(text: string, contentType: string): LocalAnswer {
  return { status: 200, contentType, pieces: [Buffer.from(text)] };
}

export function eventAnswer(values: Iterable<JsonObject>, end = 'data: [DONE]\n\n'): LocalAnswer {
  const pieces = function* () {
    for (const value of values) yield Buffer.from(`data: ${JSON.stringify(value)}\n\n`);
    if (end !== '') yield Buffer.from(end);
  };
  return { status: 200, contentType: 'text/event-stream; charset=utf-8', pieces: pieces() };
}
