export interface InputIssue {
  readonly pointer: string;
  readonly message: string;
}

/** An error in the words of the API, or a failure to reach the API. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** 0 if there was no answer. */
  readonly status: number;
  readonly code: string;
  readonly requestId: string | null;
  readonly issues: ReadonlyArray<InputIssue>;
  /** The wait before a retry; null if the answer does not say. */
  readonly retryAfterSeconds: number | null;

  constructor(given: {
    readonly status: number;
    readonly code: string;
    readonly detail: string;
    readonly requestId?: string | null;
    readonly issues?: ReadonlyArray<InputIssue>;
    readonly retryAfterSeconds?: number | null;
  }) {
    super(given.detail);
    this.status = given.status;
    this.code = given.code;
    this.requestId = given.requestId ?? null;
    this.issues = given.issues ?? [];
    this.retryAfterSeconds = given.retryAfterSeconds ?? null;
  }
}

/** The error for a refusal of the control plane or the gateway. */
export function apiErrorOf(status: number, headers: Headers, text: string): ApiError {
  const requestId = headers.get('x-request-id');
  const retryAfter = Number(headers.get('retry-after') ?? Number.NaN);
  const retryAfterSeconds = Number.isFinite(retryAfter) ? retryAfter : null;
  const body = parsed(text);
  const nested = recordOf(body.error);
  const detail = textOf(body.detail) ?? textOf(nested.message) ?? textOf(body.title) ?? `The answer was ${status}.`;
  const code = textOf(body.code) ?? textOf(nested.code) ?? String(status);
  return new ApiError({ status, code, detail, requestId, issues: issuesOf(body.errors), retryAfterSeconds });
}

export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError({
    status: 0,
    code: 'no-answer',
    detail: 'The service did not answer. Check that it is running.',
  });
}

/** The issue as a sentence. */
export function issueAt(error: ApiError | null, pointer: string): string | null {
  const found = error?.issues.find((issue) => issue.pointer === pointer);
  return found === undefined ? null : `It ${found.message}.`;
}

function issuesOf(given: unknown): ReadonlyArray<InputIssue> {
  if (!Array.isArray(given)) return [];
  return given.map(recordOf).flatMap(({ pointer, message }) => {
    return typeof pointer === 'string' && typeof message === 'string' ? [{ pointer, message }] : [];
  });
}

function parsed(text: string): Record<string, unknown> {
  try {
    return recordOf(JSON.parse(text));
  } catch {
    return {};
  }
}

function recordOf(given: unknown): Record<string, unknown> {
  return typeof given === 'object' && given !== null ? (given as Record<string, unknown>) : {};
}

function textOf(given: unknown): string | null {
  return typeof given === 'string' && given !== '' ? given : null;
}
