import type { Readable, Writable } from 'node:stream';
import type { Json, JsonObject } from '#shared/json/json.ts';
import { isObject, parsedJson } from '#shared/json/json-value.ts';
import { messageHeaders, protocolOf } from './message-headers.ts';
import { readLines } from './read-lines.ts';
import { messagesOf } from './response-messages.ts';

/** What a proxy forwards to. */
export interface StdioProxyOptions {
  /** The address of `/mcp`, with its query. */
  readonly url: URL;
  readonly key: string;
  readonly input: Readable;
  /** Takes messages of the protocol alone, one a line. */
  readonly output: Writable;
  /** Takes what a person may want to read. */
  readonly onFault: (text: string) => void;
}

/** A line of standard input at most: as the service takes bodies, with room for a larger setting. */
const maxLineBytes = 64 * 1024 * 1024;
/** Requests that are forwarded at a time at most; others wait in the pipe. */
const maxInFlight = 32;
const requestTimeoutMs = 120_000;

/**
 * Forwards each message of standard input to the service, and each answer to standard output, until the input ends.
 * What the service says itself is not looked into.
 */
export async function runStdioProxy(options: StdioProxyOptions): Promise<void> {
  const proxy = new StdioProxy(options);
  for await (const line of readLines(options.input, maxLineBytes)) {
    if (line === null) options.onFault(`a line of more than ${maxLineBytes} bytes was left out`);
    else if (line.trim() !== '') await proxy.take(line);
  }
  await proxy.finished();
}

class StdioProxy {
  readonly #options: StdioProxyOptions;
  readonly #running = new Set<Promise<void>>();
  /** By the id of a request that is not answered yet. */
  readonly #aborts = new Map<Json, AbortController>();
  /** What the service agreed on, for messages of the protocols before 2026. */
  #agreedProtocol: string | null = null;

  constructor(options: StdioProxyOptions) {
    this.#options = options;
  }

  /** Begins to forward a message. Resolves when there is room for the next one. */
  async take(line: string): Promise<void> {
    const parsed = parsedJson(line);
    const message = isObject(parsed) ? parsed : null;
    if (this.#cancel(message)) return;
    const forwarding = this.#forward(line, message);
    this.#running.add(forwarding);
    void forwarding.finally(() => this.#running.delete(forwarding));
    // What agrees on the protocol comes first, for the messages that follow name it.
    if (message?.method === 'initialize') await forwarding;
    if (this.#running.size >= maxInFlight) await Promise.race(this.#running);
  }

  /** Resolves when every message was answered. */
  async finished(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** Over HTTP the end of the request says what a notice of cancellation says here. */
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
      for (const answer of await this.#ask(line, message, abort.signal)) this.#answer(message, answer);
    } catch (error) {
      if (abort.signal.aborted) return;
      const reason = reasonOf(error);
      this.#options.onFault(`${this.#options.url.origin} cannot be reached: ${reason}`);
      if (id !== undefined) this.#write(JSON.stringify(failed(id, `The service cannot be reached: ${reason}`)));
    } finally {
      if (id !== undefined) this.#aborts.delete(id);
    }
  }

  async #ask(line: string, message: JsonObject | null, signal: AbortSignal): Promise<ReadonlyArray<string>> {
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
    // The service refused the request itself: a key that is not valid, a limit.
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

/** The answer to a request that the service did not take. */
function failed(id: Json, message: string, problem?: Json) {
  return { jsonrpc: '2.0', id, error: { code: -32_000, message, ...(isObject(problem) ? { data: problem } : {}) } };
}

function reasonOf(error: unknown): string {
  const { name, message, cause } = error instanceof Error ? error : new Error(String(error));
  if (name === 'TimeoutError') return `no answer within ${requestTimeoutMs / 1_000} s`;
  return cause instanceof Error && cause.message !== '' ? cause.message : message;
}
