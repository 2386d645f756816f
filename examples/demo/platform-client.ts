import { setTimeout as sleep } from 'node:timers/promises';
import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { DemoError } from './demo-error.ts';

const jsonHeaders = { 'content-type': 'application/json' };
const callMs = 30_000;
const settleMs = 60_000;
const pollIntervalMs = 50;

/** What all clients of one platform have seen. */
interface Seen {
  position: number;
}

/** Calls the API over HTTP, with one key. Its reads always show its earlier writes. */
export class PlatformClient {
  readonly #url: string;
  readonly #key: string;
  readonly #seen: Seen;

  /** @param url without a slash at its end */
  constructor(url: string, key: string, seen: Seen = { position: 0 }) {
    this.#url = url;
    this.#key = key;
    this.#seen = seen;
  }

  as(key: string): PlatformClient {
    return new PlatformClient(this.#url, key, this.#seen);
  }

  /** @throws DemoError, like every call, when the request is refused or not answered */
  async get<T>(path: string, codec: t.Decoder<unknown, T>): Promise<T> {
    const headers = { 'switchyard-min-position': String(this.#seen.position) };
    const deadline = performance.now() + settleMs;
    for (;;) {
      const answer = await this.#send('GET', path, { headers });
      // The read models are not filled yet.
      const isLate = answer.status === 503 && performance.now() < deadline;
      if (!isLate) return this.#decoded(`GET ${path}`, answer, codec);
      await sleep(pollIntervalMs);
    }
  }

  post<T>(path: string, body: object, codec: t.Decoder<unknown, T>): Promise<T> {
    return this.#write('POST', path, body, codec);
  }

  put<T>(path: string, body: object, codec: t.Decoder<unknown, T>): Promise<T> {
    return this.#write('PUT', path, body, codec);
  }

  /** Ignores the answer's body. */
  async delete(path: string): Promise<void> {
    await this.#write('DELETE', path, null, t.unknown);
  }

  async upload<T>(path: string, form: FormData, codec: t.Decoder<unknown, T>): Promise<T> {
    return this.#decoded(`POST ${path}`, this.#noted(await this.#send('POST', path, { body: form })), codec);
  }

  async callModel(path: string, body: object | FormData): Promise<ArrayBuffer> {
    const isForm = body instanceof FormData;
    const given = isForm ? { body } : { headers: jsonHeaders, body: JSON.stringify(body) };
    return (await this.#send('POST', path, given)).arrayBuffer();
  }

  /** @throws DemoError at the time limit */
  async readUntil<T>(path: string, codec: t.Decoder<unknown, T>, holds: (value: T) => boolean): Promise<T> {
    const deadline = performance.now() + settleMs;
    for (;;) {
      const value = await this.get(path, codec);
      if (holds(value)) return value;
      if (performance.now() >= deadline) {
        throw new DemoError(`${path} did not come to an end within ${settleMs / 1000} s.`);
      }
      await sleep(pollIntervalMs);
    }
  }

  async #write<T>(
    method: 'POST' | 'PUT' | 'DELETE',
    path: string,
    body: object | null,
    codec: t.Decoder<unknown, T>,
  ): Promise<T> {
    const given = body === null ? {} : { headers: jsonHeaders, body: JSON.stringify(body) };
    return this.#decoded(`${method} ${path}`, this.#noted(await this.#send(method, path, given)), codec);
  }

  /** Later reads wait for the position of a write. */
  #noted(answer: Response): Response {
    this.#seen.position = Math.max(this.#seen.position, Number(answer.headers.get('switchyard-position') ?? 0));
    return answer;
  }

  async #send(
    method: string,
    path: string,
    { headers, body }: Pick<RequestInit, 'headers' | 'body'>,
  ): Promise<Response> {
    try {
      return await fetch(this.#url + path, {
        method,
        headers: { ...headers, authorization: `Bearer ${this.#key}` },
        body: body ?? null,
        signal: AbortSignal.timeout(callMs),
      });
    } catch (error) {
      throw notReached(this.#url, error);
    }
  }

  async #decoded<T>(call: string, answer: Response, codec: t.Decoder<unknown, T>): Promise<T> {
    const body = jsonIn(await textOf(answer, this.#url));
    if (!answer.ok) throw new DemoError(`${call} was answered with ${answer.status}: ${detailOf(body)}`);
    const decoded = codec.decode(body);
    if (E.isLeft(decoded)) throw new DemoError(`${call} was answered with something else than this version knows.`);
    return decoded.right;
  }
}

async function textOf(answer: Response, url: string): Promise<string> {
  try {
    return await answer.text();
  } catch (error) {
    throw notReached(url, error);
  }
}

function notReached(url: string, error: unknown): DemoError {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const reason =
    cause instanceof Error ? cause.message || ('code' in cause ? String(cause.code) : cause.name) : String(cause);
  return new DemoError(`${url} does not answer (${reason}). Check that Switchyard runs there.`, { cause: error });
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Reads the detail of a problem document (RFC 9457). */
function detailOf(body: unknown): string {
  if (typeof body !== 'object' || body === null) return 'it is not a Switchyard that answers there.';
  if ('detail' in body && typeof body.detail === 'string') return body.detail;
  return 'no reason was given.';
}
