import type { Readable, Writable } from 'node:stream';
import { PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server';
import { isObject, type Json, type JsonObject, parsedJson } from '#shared/json/json.ts';

export interface StdioProxyOptions {
  /** The address of `/mcp`, including a query. */
  readonly url: URL;
  readonly key: string;
  readonly input: Readable;
  /** Receives only messages of the protocol, one on each line. */
  readonly output: Writable;
  /** Receives texts for a person. */
  readonly onFault: (text: string) => void;
}

/**
 * Maximum size of a line of standard input. Larger than the default limit of bodies in the service, which may be
 * raised.
 */
const maxLineBytes = 64 * 1024 * 1024;
/** Requests that are forwarded at the same time. Others wait in the pipe. */
const maxInFlight = 32;
const requestTimeoutMs = 120_000;

/**
 * Forwards each message of standard input to the service, and each answer to standard output, until the input ends. It
 * does not look into the answers.
 */
export async function runStdioProxy(options: StdioProxyOptions): Promise<void> {
  const proxy = new StdioProxy(options);
  for await (const line of readUtf8Lines(options.input, maxLineBytes)) {
    if (line === null) options.onFault(`a line of more than ${maxLineBytes} bytes was left out`);
    else if (line.trim() !== '') await proxy.forward(line);
  }
  await proxy.finished();
}

class StdioProxy {
  readonly #options: StdioProxyOptions;
  readonly #running = new Set<Promise<void>>();
  /** Functions that end unanswered requests, by id. */
  readonly #aborts = new Map<Json, AbortController>();
  /** The protocol that `initialize` has agreed on, for messages of protocols before 2026. */
  #agreedProtocol: string | null = null;

  constructor(options: StdioProxyOptions) {
    this.#options = options;
  }

  /** Starts to forward a message. Resolves when the next one may be forwarded. */
  async forward(line: string): Promise<void> {
    const parsed = parsedJson(line);
    const message = isObject(parsed) ? parsed : null;
    if (this.#cancel(message)) return;
    const forwarding = this.#forward(line, message);
    this.#running.add(forwarding);
    void forwarding.finally(() => this.#running.delete(forwarding));
    // `initialize` must be answered first, because later messages name its protocol.
    if (message?.method === 'initialize') await forwarding;
    if (this.#running.size >= maxInFlight) await Promise.race(this.#running);
  }

  /** Resolves when every message is answered. */
  async finished(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** Over HTTP the end of the request replaces the protocol's notification. */
  #cancel(message: JsonObject | null): boolean {
    if (message?.method !== 'notifications/cancelled' || !isObject(message.params)) return false;
    const { requestId } = message.params;
    const abort = requestId === undefined ? undefined : this.#aborts.get(requestId);
    abort?.abort();
    return true;
  }

  async #forward(line: string, message: JsonObject | null): Promise<void> {
    const id = message !== null && message.method !== undefined ? message.id : undefined;
    const abort = new AbortController();
    if (id !== undefined) this.#aborts.set(id, abort);
    try {
      for (const answer of await this.#send(line, message, abort.signal)) this.#answer(message, answer);
    } catch (error) {
      if (abort.signal.aborted) return;
      const reason = reasonOf(error);
      this.#options.onFault(`${this.#options.url.origin} cannot be reached: ${reason}`);
      if (id !== undefined) this.#write(JSON.stringify(failed(id, `The service cannot be reached: ${reason}`)));
    } finally {
      if (id !== undefined) this.#aborts.delete(id);
    }
  }

  async #send(line: string, message: JsonObject | null, signal: AbortSignal): Promise<ReadonlyArray<string>> {
    const { url, key, onFault } = this.#options;
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...messageHeaders(message, this.#agreedProtocol), Authorization: `Bearer ${key}` },
      body: line,
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(requestTimeoutMs)]),
    });
    const text = await response.text();
    const messages = messagesOf(response, text);
    if (messages !== null) return messages;
    // The service has refused the request itself, because of an invalid key or a limit.
    const problem = parsedJson(text);
    const detail = isObject(problem) ? `${problem.code}: ${problem.detail}` : `HTTP ${response.status}`;
    onFault(detail);
    return message?.id === undefined ? [] : [JSON.stringify(failed(message.id, detail, problem))];
  }

  #answer(message: JsonObject | null, answer: string): void {
    if (message?.method === 'initialize') this.#agreedProtocol = protocolOf(answer);
    this.#write(answer);
  }

  #write(text: string): void {
    this.#options.output.write(`${text}\n`);
  }
}

/** The answer to a request that the service has refused. */
function failed(id: Json, message: string, problem?: Json) {
  return { jsonrpc: '2.0', id, error: { code: -32_000, message, ...(isObject(problem) ? { data: problem } : {}) } };
}

function reasonOf(error: unknown): string {
  const { name, message, cause } = error instanceof Error ? error : new Error(String(error));
  if (name === 'TimeoutError') return `no answer within ${requestTimeoutMs / 1_000} s`;
  return cause instanceof Error && cause.message !== '' ? cause.message : message;
}

/**
 * The headers of a message in "Streamable HTTP". Since 2026 the headers also name the protocol, the method and the
 * subject of each message.
 * @param agreed the protocol that `initialize` has agreed on; null before that, and for protocols without `initialize`
 */
export function messageHeaders(message: JsonObject | null, agreed: string | null): Record<string, string> {
  const always = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
  const params = isObject(message?.params) ? message.params : {};
  const named = isObject(params._meta) ? params._meta[PROTOCOL_VERSION_META_KEY] : undefined;
  const protocol = typeof named === 'string' ? named : agreed;
  if (protocol === null) return always;
  const headers: Record<string, string> = { ...always, 'Mcp-Protocol-Version': protocol };
  if (typeof named !== 'string' || typeof message?.method !== 'string') return headers;
  headers['Mcp-Method'] = message.method;
  const subject = params.name ?? params.uri;
  if (typeof subject === 'string') headers['Mcp-Name'] = subject;
  return headers;
}

/** The protocol in the answer to `initialize`; null for a refusal. */
export function protocolOf(answer: string): string | null {
  const message = parsedJson(answer);
  const result = isObject(message) && isObject(message.result) ? message.result : {};
  return typeof result.protocolVersion === 'string' ? result.protocolVersion : null;
}

/**
 * Each message is on one line. The response is JSON, or a stream of events that has ended.
 * @returns null for a response without messages: the service has refused the request itself
 */
export function messagesOf({ status, headers }: Pick<Response, 'status' | 'headers'>, text: string) {
  if (status === 202) return [];
  const type = headers.get('content-type') ?? '';
  if (type.startsWith('text/event-stream')) return eventsIn(text);
  const message = parsedJson(text);
  return isObject(message) && message.jsonrpc === '2.0' ? [JSON.stringify(message)] : null;
}

/** The service writes each message as one `data` line. */
function eventsIn(text: string): ReadonlyArray<string> {
  return text.split('\n').flatMap((line) => (line.startsWith('data: {') ? [line.slice('data: '.length)] : []));
}

const newline = 0x0a;

/** Reads lines in UTF-8. Yields null for a line that is too long, and keeps nothing of it. */
export async function* readUtf8Lines(input: Readable, maxBytes: number): AsyncGenerator<string | null, void, void> {
  let pieces: Buffer[] = [];
  let bytes = 0;
  const take = (piece: Buffer) => {
    bytes += piece.length;
    if (bytes <= maxBytes) pieces.push(piece);
    else pieces = [];
  };
  const line = () => {
    const text = bytes <= maxBytes ? Buffer.concat(pieces).toString('utf8') : null;
    pieces = [];
    bytes = 0;
    return text;
  };
  for await (const chunk of input as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      take(chunk.subarray(start, end));
      yield line();
      start = end + 1;
    }
    take(chunk.subarray(start));
  }
  if (bytes > 0) yield line();
}
