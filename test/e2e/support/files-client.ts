import { adminKey } from '#test/support/service/admin-key.ts';

/** A file of a project, as the API shows it. */
export interface StoredFile {
  readonly id: string;
  readonly object: string;
  readonly bytes: number;
  readonly filename: string;
  readonly purpose: string;
  readonly status: string;
  readonly created_at: number;
  readonly expires_at?: number | null;
}

/** A batch, as the API shows it. */
export interface Batch {
  readonly id: string;
  readonly object: string;
  readonly endpoint: string;
  readonly completion_window: string;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly status: string;
  readonly input_file_id: string;
  readonly output_file_id?: string | null;
  readonly error_file_id?: string | null;
  readonly created_at: number;
  readonly expires_at?: number;
  readonly in_progress_at?: number | null;
  readonly finalizing_at?: number | null;
  readonly completed_at?: number | null;
  readonly request_counts?: { readonly total: number; readonly completed: number; readonly failed: number };
  readonly errors?: {
    readonly data?: ReadonlyArray<{ readonly line: number | null; readonly code: string }>;
  } | null;
}

interface Page<Item> {
  readonly data: ReadonlyArray<Item>;
  readonly has_more: boolean;
}

/** An answer that is not a success. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string | null;
  readonly param: string | null;

  constructor(status: number, text: string) {
    super(`${status} ${text}`);
    const { error } = JSON.parse(text) as { error?: { code?: string | null; param?: string | null } };
    this.status = status;
    this.code = error?.code ?? null;
    this.param = error?.param ?? null;
  }
}

/** Calls files and batches as the reference of OpenAI describes them, once each. */
export class FilesClient {
  readonly #url: string;
  readonly #key: string;
  readonly #send: typeof fetch;

  constructor(url: string, key = adminKey, send: typeof fetch = fetch) {
    this.#url = url;
    this.#key = key;
    this.#send = send;
  }

  /** @param form what the form has besides the file */
  upload(content: Buffer | string, name: string, form: Readonly<Record<string, string>>): Promise<StoredFile> {
    const body = new FormData();
    body.set('file', new File([new Uint8Array(Buffer.from(content))], name));
    for (const [member, value] of Object.entries(form)) body.set(member, value);
    return this.#json('POST', '/v1/files', body);
  }

  file(id: string): Promise<StoredFile> {
    return this.#json('GET', `/v1/files/${id}`);
  }

  files(query: Readonly<Record<string, string>> = {}): Promise<Page<StoredFile>> {
    return this.#json('GET', `/v1/files?${new URLSearchParams(query)}`);
  }

  content(id: string): Promise<Response> {
    return this.#call('GET', `/v1/files/${id}/content`);
  }

  deleteFile(id: string): Promise<object> {
    return this.#json('DELETE', `/v1/files/${id}`);
  }

  createBatch(batch: object): Promise<Batch> {
    return this.#json('POST', '/v1/batches', JSON.stringify(batch));
  }

  batch(id: string): Promise<Batch> {
    return this.#json('GET', `/v1/batches/${id}`);
  }

  batches(query: Readonly<Record<string, string>> = {}): Promise<Page<Batch>> {
    return this.#json('GET', `/v1/batches?${new URLSearchParams(query)}`);
  }

  cancelBatch(id: string): Promise<Batch> {
    return this.#json('POST', `/v1/batches/${id}/cancel`);
  }

  async #json<Body>(method: string, path: string, body?: string | FormData): Promise<Body> {
    return (await this.#call(method, path, body)).json() as Promise<Body>;
  }

  /** @throws ApiError for every answer that is not a success */
  async #call(method: string, path: string, body?: string | FormData): Promise<Response> {
    const answer = await this.#send(this.#url + path, {
      method,
      headers: {
        authorization: `Bearer ${this.#key}`,
        ...(typeof body === 'string' ? { 'content-type': 'application/json' } : {}),
      },
      ...(body === undefined ? {} : { body }),
    });
    if (!answer.ok) throw new ApiError(answer.status, await answer.text());
    return answer;
  }
}

/** All items of a list, page by page. */
export async function allIds(
  list: (query: Readonly<Record<string, string>>) => Promise<Page<{ readonly id: string }>>,
): Promise<ReadonlyArray<string>> {
  const ids: string[] = [];
  let page = await list({ limit: '1' });
  for (;;) {
    ids.push(...page.data.map(({ id }) => id));
    const last = ids.at(-1);
    if (!page.has_more || last === undefined) return ids;
    page = await list({ limit: '1', after: last });
  }
}
