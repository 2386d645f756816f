import { apiErrorOf, toApiError } from '#dashboard/page/api/api-error.ts';
import { sessionHeader } from '#dashboard/page/api/page-session.ts';

export interface SendOptions {
  /** The ETag that the resource must still have. */
  readonly ifMatch?: string | null;
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal;
}

/** A value with its ETag, for a later change with `If-Match`. */
export interface Tagged<Value> {
  readonly value: Value;
  readonly etag: string | null;
}

const idempotencyBytes = 16;
/** Time limit of all requests except streams. */
const requestTimeoutMs = 30_000;

/** Calls the API with the browser's session, or with a key, which is only in a header. */
export class Api {
  readonly #key: string | null;
  readonly #onRefused: () => void;

  /** @param key null for the browser's session @param onRefused is called when the key or the session is over */
  constructor(key: string | null, onRefused: () => void) {
    this.#key = key;
    this.#onRefused = onRefused;
  }

  /** Headers that say who asks. */
  get authorization(): Readonly<Record<string, string>> {
    return this.#key === null ? { [sessionHeader]: '1' } : { authorization: `Bearer ${this.#key}` };
  }

  /** @throws ApiError */
  async get<Value>(path: string, signal?: AbortSignal): Promise<Value> {
    return (await this.getTagged<Value>(path, signal)).value;
  }

  /** @throws ApiError */
  async getTagged<Value>(path: string, signal?: AbortSignal): Promise<Tagged<Value>> {
    const answer = await this.open(path, { signal: limited(signal) });
    return { value: (await answer.json()) as Value, etag: answer.headers.get('etag') };
  }

  /** @returns the answer's JSON @throws ApiError */
  async send<Value>(method: string, path: string, body?: unknown, options: SendOptions = {}): Promise<Value> {
    const headers: Record<string, string> = { 'idempotency-key': randomToken() };
    if (body !== undefined) headers['content-type'] = 'application/json';
    if (options.ifMatch) headers['if-match'] = options.ifMatch;
    const address = options.dryRun ? `${path}${path.includes('?') ? '&' : '?'}dryRun=true` : path;
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await this.open(address, { method, headers, ...content, signal: limited(options.signal) });
    const text = await answer.text();
    return (text === '' ? null : JSON.parse(text)) as Value;
  }

  /** Opens a stream or download, without a timeout. @throws ApiError if the response is not a success */
  async open(path: string, init: RequestInit = {}): Promise<Response> {
    const answer = await this.#fetched(path, init);
    if (answer.ok) return answer;
    const refusal = apiErrorOf(answer.status, answer.headers, await answer.text());
    if (refusal.status === 401) this.#onRefused();
    throw refusal;
  }

  async #fetched(path: string, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers);
    for (const [name, value] of Object.entries(this.authorization)) headers.set(name, value);
    const credentials = this.#key === null ? 'same-origin' : 'omit';
    try {
      return await fetch(path, { ...init, headers, cache: 'no-store', credentials });
    } catch (error) {
      if (init.signal?.aborted && isAbort(error)) throw error;
      throw toApiError(error);
    }
  }
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

/** Reads pages up to a maximum of items. @throws ApiError */
export async function getAll<Item>(
  api: Api,
  path: string,
  member: string,
  options: { readonly maxItems: number; readonly signal?: AbortSignal },
): Promise<{ readonly items: ReadonlyArray<Item>; readonly isWhole: boolean }> {
  const items: Item[] = [];
  let cursor: string | null = null;
  do {
    const separator = path.includes('?') ? '&' : '?';
    const address: string = cursor === null ? path : `${path}${separator}cursor=${encodeURIComponent(cursor)}`;
    const page: Record<string, unknown> = await api.get(address, options.signal);
    items.push(...((page[member] ?? []) as Item[]));
    cursor = (page.nextCursor as string | undefined) ?? null;
  } while (cursor !== null && items.length < options.maxItems);
  return { items, isWhole: cursor === null };
}

function limited(signal?: AbortSignal): AbortSignal {
  const timeout = AbortSignal.timeout(requestTimeoutMs);
  return signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
}

function randomToken(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(idempotencyBytes));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
