import type { Readable } from 'node:stream';
import { Pool } from 'undici';

/** A request body, sent as JSON. */
export type Body = object | undefined;

/** A response, read to its end. */
export interface Reply<T = Record<string, unknown>> {
  readonly status: number;
  /** By lower-case name; the values of a repeated header are joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  /** The JSON value; undefined without content. Its type is not checked: the test asserts it. */
  readonly body: T;
  readonly text: string;
}

/** A request, sent unchanged. */
export interface RawRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A stream is sent in chunks, without a Content-Length. */
  readonly body?: string | Buffer | Readable;
}

type Headers = Readonly<Record<string, string>>;

const timeoutMs = 30_000;

/** A client of a running service with one API key. */
export class Client {
  readonly #pool: Pool;
  readonly #key: string | null;

  /** @param key sent as a bearer token; null to send none */
  constructor(url: string | Pool, key: string | null) {
    this.#pool =
      typeof url === 'string'
        ? new Pool(url, { connections: 64, headersTimeout: timeoutMs, bodyTimeout: timeoutMs })
        : url;
    this.#key = key;
  }

  /** Returns a client with another key on the same connections. */
  as(key: string | null): Client {
    return new Client(this.#pool, key);
  }

  get<T = Record<string, unknown>>(path: string, headers: Headers = {}): Promise<Reply<T>> {
    return this.#json('GET', path, undefined, headers);
  }

  post<T = Record<string, unknown>>(path: string, body?: Body, headers: Headers = {}): Promise<Reply<T>> {
    return this.#json('POST', path, body, headers);
  }

  put<T = Record<string, unknown>>(path: string, body?: Body, headers: Headers = {}): Promise<Reply<T>> {
    return this.#json('PUT', path, body, headers);
  }

  patch<T = Record<string, unknown>>(path: string, body?: Body, headers: Headers = {}): Promise<Reply<T>> {
    return this.#json('PATCH', path, body, headers);
  }

  remove<T = Record<string, unknown>>(path: string, headers: Headers = {}): Promise<Reply<T>> {
    return this.#json('DELETE', path, undefined, headers);
  }

  /** Sends a request unchanged, with the key. */
  async send<T = Record<string, unknown>>({ method, path, headers = {}, body }: RawRequest): Promise<Reply<T>> {
    const answer = await this.#pool.request({
      method,
      path,
      headers: { ...(this.#key === null ? {} : { authorization: `Bearer ${this.#key}` }), ...headers },
      ...(body === undefined ? {} : { body }),
    });
    const text = await answer.body.text();
    return { status: answer.statusCode, headers: joined(answer.headers), body: parsed(text) as T, text };
  }

  /** Closes the connections, including those of clients from `as`. */
  async close(): Promise<void> {
    await this.#pool.destroy();
  }

  #json<T>(method: RawRequest['method'], path: string, body: Body, headers: Headers): Promise<Reply<T>> {
    if (body === undefined) return this.send<T>({ method, path, headers });
    return this.send<T>({
      method,
      path,
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  }
}

function joined(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]));
}

function parsed(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
