import type { Json } from '#shared/json/json.ts';

/** All refusals of operations, with HTTP status and title. The key is the `code` in a problem. */
export const failures = {
  'malformed-json': { status: 400, title: 'The body is not JSON' },
  'invalid-encoding': { status: 400, title: 'The body is not UTF-8' },
  'bad-request': { status: 400, title: 'The request cannot be read' },
  'key-required': { status: 401, title: 'An API key is required' },
  'key-invalid': { status: 401, title: 'The API key is not valid' },
  'scope-required': { status: 403, title: 'The API key lacks a scope' },
  'key-type-not-allowed': { status: 403, title: 'This type of API key may not do this' },
  'origin-not-allowed': { status: 403, title: 'Pages of this origin may not call' },
  'path-not-found': { status: 404, title: 'No such path' },
  'unsupported-endpoint': { status: 404, title: 'Switchyard does not serve this path of OpenAI’s API' },
  'organization-not-found': { status: 404, title: 'No such organization' },
  'customer-not-found': { status: 404, title: 'No such customer' },
  'project-not-found': { status: 404, title: 'No such project' },
  'key-not-found': { status: 404, title: 'No such API key' },
  'flow-not-found': { status: 404, title: 'No such flow' },
  'flow-version-not-found': { status: 404, title: 'No such flow version' },
  'phone-number-not-found': { status: 404, title: 'No such phone number' },
  'agent-profile-not-found': { status: 404, title: 'No such agent profile' },
  'template-not-found': { status: 404, title: 'No such template' },
  'template-version-not-found': { status: 404, title: 'No such template version' },
  'store-not-found': { status: 404, title: 'No such store' },
  'file-not-found': { status: 404, title: 'No such file' },
  'batch-not-found': { status: 404, title: 'No such batch' },
  'instance-not-found': { status: 404, title: 'No such instance' },
  'webhook-endpoint-not-found': { status: 404, title: 'No such webhook endpoint' },
  'phone-number-requirement-not-found': { status: 404, title: 'No such phone number requirement' },
  'process-not-found': { status: 404, title: 'No such process' },
  'projection-not-found': { status: 404, title: 'No such projection' },
  'model-not-found': { status: 404, title: 'No such model' },
  'read-only': { status: 503, title: 'This service is read only' },
  'no-digest': { status: 404, title: 'There is no digest' },
  'method-not-allowed': { status: 405, title: 'The path does not take this method' },
  'body-too-slow': { status: 408, title: 'The body came too slowly' },
  'body-evicted': { status: 408, title: 'The unfinished body was ended to make room' },
  'flow-version-active': { status: 409, title: 'The flow version is the active one' },
  'flow-in-use': { status: 409, title: 'A phone number points at the flow' },
  'phone-number-taken': { status: 409, title: 'The phone number is taken' },
  'default-agent-profile-required': { status: 409, title: 'The project must keep a default agent profile' },
  'organization-not-partner': { status: 409, title: 'The organization is not a partner' },
  'template-archived': { status: 409, title: 'The template is archived' },
  'template-version-not-published': { status: 409, title: 'The template version is not published' },
  'template-version-not-newer': { status: 409, title: 'The template version is not newer' },
  'template-version-of-another-template': { status: 409, title: 'The template version is of another template' },
  'instance-drifted': { status: 409, title: 'The instance was changed by hand' },
  'nothing-to-retry': { status: 409, title: 'No operation of the instance failed' },
  'file-in-use': { status: 409, title: 'A batch reads the file' },
  'batch-taken-over': { status: 409, title: 'Another run of the batch has begun' },
  'batch-ended': { status: 409, title: 'The batch has ended' },
  'too-many-webhook-endpoints': { status: 409, title: 'There are too many webhook endpoints' },
  'webhook-key-lost': { status: 409, title: 'The key of the webhook endpoint’s secrets is lost' },
  'process-not-stopped': { status: 409, title: 'The process is not stopped' },
  'projection-not-stopped': { status: 409, title: 'The projection is not stopped' },
  'projection-rebuilding': { status: 409, title: 'The projection is being rebuilt' },
  'digest-refused': { status: 409, title: 'No digest can be written of this log' },
  'usage-not-archived': { status: 409, title: 'The metering of a day cannot be archived' },
  'idempotency-key-in-progress': { status: 409, title: 'A request with this Idempotency-Key is still running' },
  'too-many-conflicts': { status: 409, title: 'Too many writers at once' },
  'precondition-failed': { status: 412, title: 'The resource has changed' },
  'body-too-large': { status: 413, title: 'The body is too large' },
  'append-too-large': { status: 413, title: 'The change is too large to be stored' },
  'file-too-large': { status: 413, title: 'The file is too large' },
  'files-quota-exceeded': { status: 413, title: 'The project has no room for more files' },
  'unsupported-media-type': { status: 415, title: 'The media type of the body is not supported' },
  'range-not-satisfiable': { status: 416, title: 'The file has no such part' },
  'invalid-input': { status: 422, title: 'The input is not valid' },
  'usage-too-recent': { status: 422, title: 'The days are too recent to be archived' },
  'nesting-too-deep': { status: 422, title: 'The JSON is nested too deeply' },
  'number-not-exact': { status: 422, title: 'JSON does not keep the digits of a number' },
  'too-many-values': { status: 422, title: 'The JSON has too many values' },
  'idempotency-key-reused': { status: 422, title: 'The Idempotency-Key was used for another body' },
  'idempotency-key-erased': { status: 422, title: 'What the Idempotency-Key was used for was erased' },
  'invalid-header': { status: 422, title: 'A header is not valid' },
  'position-beyond-log': { status: 422, title: 'The log ends before this position' },
  'rate-limited': { status: 429, title: 'Too many requests' },
  'too-many-calls': { status: 429, title: 'Too many calls at once' },
  'too-many-webhook-tries': { status: 429, title: 'Too many tries of the webhook endpoint at once' },
  'too-many-feeds': { status: 429, title: 'Too many live feeds at once' },
  'too-many-body-bytes': { status: 429, title: 'Too many bytes in bodies at once' },
  'too-many-answer-bytes': { status: 429, title: 'Too many bytes in answers that are not read yet' },
  'too-many-spool-bytes': { status: 429, title: 'Too many bytes in uploads at once' },
  'internal-error': { status: 500, title: 'Switchyard failed' },
  'no-provider': { status: 502, title: 'No provider of the model can do this' },
  'provider-failed': { status: 502, title: 'The provider failed' },
  'provider-key-refused': { status: 502, title: 'The provider refused the key of the gateway' },
  'provider-reset': { status: 502, title: 'The connection to the provider broke' },
  'provider-malformed': { status: 502, title: 'The answer of the provider cannot be read' },
  'provider-unfinished': { status: 502, title: 'The provider ended its answer early' },
  'provider-too-large': { status: 502, title: 'The answer of the provider is too large' },
  unavailable: { status: 503, title: 'Switchyard cannot answer just now' },
  'stream-unreadable': { status: 503, title: 'An event of the resource cannot be read' },
  'bodies-full': { status: 503, title: 'The node has no room for more bodies' },
  'answers-full': { status: 503, title: 'The node has no room for more answers' },
  'spool-full': { status: 503, title: 'The node has no room for more uploads' },
  'feeds-full': { status: 503, title: 'The node has no room for more live feeds' },
  'disk-full': { status: 503, title: 'The disk has too little free space' },
  'provider-unreachable': { status: 503, title: 'The provider cannot be reached' },
  'provider-overloaded': { status: 503, title: 'The provider is overloaded or down' },
  'batches-not-running': { status: 503, title: 'No node runs batches' },
  'read-model-behind': { status: 503, title: 'The read model has not caught up' },
  'provider-timeout': { status: 504, title: 'The provider took too long' },
} as const satisfies Record<string, { status: number; title: string }>;

/** The code of a failure, which clients can rely on. */
export type FailureCode = keyof typeof failures;

/** The HTTP status of a failure on the gateway, where a body that is not JSON is invalid input. */
export function gatewayStatus(code: FailureCode): number {
  return code === 'malformed-json' || code === 'invalid-encoding' ? 422 : failures[code].status;
}

/** One fault of an input: its place (RFC 6901) and a message. */
export interface InputError {
  readonly pointer: string;
  /** The query parameter, if the fault is not in a body. */
  readonly parameter?: string;
  readonly message: string;
  /** The invalid value, if it may be shown. */
  readonly input?: Json;
}

/** Why an operation was refused. */
export interface Failure {
  readonly code: FailureCode;
  /** The reason and what to do, for a person. */
  readonly detail: string;
  readonly errors?: ReadonlyArray<InputError>;
  readonly retryAfterSeconds?: number;
}

/** Makes a failure. `detail` has the reason and what to do, and never a secret. */
export function failure(code: FailureCode, detail: string, more: Omit<Failure, 'code' | 'detail'> = {}): Failure {
  return { code, detail, ...more };
}
