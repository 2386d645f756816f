import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resetConnection } from '#test/support/run/reset-connection.ts';

/** A request that a provider received, and its outcome. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The time when the request was complete, by the monotonic clock in ms. */
  readonly at: number;
  /** The time when its connection closed before the answer was complete; null without such a close. */
  closedAt: number | null;
}

/** How a provider answers one request. */
export type Behaviour = (res: ServerResponse, seen: SeenRequest) => void | Promise<void>;

/** A provider over real sockets that answers as the test sets it. */
export class FakeProvider {
  readonly seen: SeenRequest[] = [];
  /** The number of requests whose first bytes arrived; some never become complete. */
  begun = 0;
  /** The number of connections that were opened. */
  connections = 0;
  /** The number of open connections. */
  open = 0;
  #behaviours: Behaviour[] = [];
  readonly #server = createServer((req, res) => void this.#answer(req, res));

  static async start(port = 0): Promise<FakeProvider> {
    const provider = new FakeProvider();
    provider.#server.on('connection', (socket) => {
      provider.connections += 1;
      provider.open += 1;
      socket.once('close', () => {
        provider.open -= 1;
      });
    });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    provider.#server.once('error', reject);
    provider.#server.listen(port, '127.0.0.1', resolve);
    await promise;
    return provider;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.port}/v1`;
  }

  /** Sets the answers to the next requests; the last one also answers all that follow. */
  answers(...behaviours: ReadonlyArray<Behaviour>): void {
    this.#behaviours = [...behaviours];
    this.seen.length = 0;
    this.begun = 0;
  }

  async stop(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    this.#server.closeAllConnections();
    await promise;
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    this.begun += 1;
    const [behaviour = json({})] = this.#behaviours;
    if (this.#behaviours.length > 1) this.#behaviours.shift();
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of req) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    const seen: SeenRequest = {
      method: req.method ?? '',
      path: req.url ?? '',
      headers: req.headers,
      body: Buffer.concat(chunks),
      at: performance.now(),
      closedAt: null,
    };
    this.seen.push(seen);
    res.once('close', () => {
      if (!res.writableFinished) seen.closedAt = performance.now();
    });
    await behaviour(res, seen);
  }
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Answers with JSON. */
export const json =
  (value: unknown, status = 200, headers: Record<string, string> = {}): Behaviour =>
  (res) =>
    void res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));

/** Answers with bytes of any kind. */
export const bytes =
  (body: string | Buffer, headers: Record<string, string>, status = 200): Behaviour =>
  (res) =>
    void res.writeHead(status, headers).end(body);

/** Answers with an error in OpenAI's form. */
export const error = (
  status: number,
  code: string,
  headers: Record<string, string> = {},
  message = 'It went wrong.',
): Behaviour => json({ error: { message, type: 'some_error', param: null, code } }, status, headers);

/** Never answers. */
export const silence: Behaviour = () => undefined;

/** Breaks the connection before the headers. */
export const reset: Behaviour = (res) => {
  if (res.socket !== null) resetConnection(res.socket);
};

export const chunk = (delta: object, finish: string | null = null, more: object = {}): string =>
  `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'gpt-x', choices: [{ index: 0, delta, finish_reason: finish }], ...more })}\n\n`;

export const role = chunk({ role: 'assistant', content: '' });
export const words = (...texts: ReadonlyArray<string>): ReadonlyArray<string> =>
  texts.map((content) => chunk({ content }));
export const stop = chunk({}, 'stop');
export const done = 'data: [DONE]\n\n';

interface Streaming {
  /** The pause between two pieces in ms. */
  readonly gapMs?: number;
  /** The end after the last piece; default: a proper end. */
  readonly after?: 'end' | 'cut' | 'stall';
  readonly headers?: Record<string, string>;
  readonly beforeHeadersMs?: number;
  readonly beforeFirstMs?: number;
}

/** Answers with a stream of server-sent events, piece by piece. */
export const stream =
  (
    pieces: ReadonlyArray<string | Buffer>,
    { gapMs = 0, after = 'end', headers = {}, ...waits }: Streaming = {},
  ): Behaviour =>
  async (res) => {
    if (waits.beforeHeadersMs !== undefined) await pause(waits.beforeHeadersMs);
    res.writeHead(200, { 'content-type': 'text/event-stream', ...headers });
    res.flushHeaders();
    if (waits.beforeFirstMs !== undefined) await pause(waits.beforeFirstMs);
    for (const piece of pieces) {
      if (res.destroyed) return;
      await new Promise((resolve) => res.write(piece, resolve));
      if (gapMs > 0) await pause(gapMs);
    }
    if (after === 'end') res.end();
    if (after === 'cut') res.destroy();
  };

/** Answers with a complete chat stream of some words. */
export const saying = (...texts: ReadonlyArray<string>): ReadonlyArray<string> => [
  role,
  ...words(...texts),
  stop,
  done,
];

/** Returns a chat answer that is not streamed. */
export const completion = (content: string, usage: object | null = { prompt_tokens: 5, completion_tokens: 7 }) => ({
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-x-2026',
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  ...(usage === null ? {} : { usage }),
});
