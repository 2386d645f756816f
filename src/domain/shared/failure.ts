import type { Json } from '#shared/json/json.ts';

/**
 * All refusals of operations: the HTTP status, the title, and one line for `/docs/problems` that names the request, header
 * or command that solves it. The key is the `code` in a problem.
 */
export const failures = {
  'malformed-json': {
    status: 400,
    title: 'The body is not JSON',
    solution: 'Send a body that a JSON parser accepts; `detail` names the line and column.',
  },
  'invalid-encoding': {
    status: 400,
    title: 'The body is not UTF-8',
    solution: 'Send the body as UTF-8, without a byte of another encoding.',
  },
  'response-not-in-background': {
    status: 400,
    title: 'The response is not made in the background',
    solution:
      'Close the connection of its request to end a response; send `background: true` for one that can be cancelled.',
  },
  'response-not-finished': {
    status: 400,
    title: 'The response is not finished',
    solution: 'Repeat `GET /v1/responses/{responseId}` until `status` is neither `queued` nor `in_progress`.',
  },
  'bad-request': {
    status: 400,
    title: 'The request cannot be read',
    solution: 'Send a complete HTTP/1.1 request whose target and headers follow RFC 9112.',
  },
  'key-required': {
    status: 401,
    title: 'An API key is required',
    solution: 'Send `Authorization: Bearer <API key>` or `x-api-key: <API key>`.',
  },
  'key-invalid': {
    status: 401,
    title: 'The API key is not valid',
    solution:
      'Check the key with `GET /v1/me`; make a new one with `POST /v1/projects/{projectId}/keys` if it was revoked or has expired.',
  },
  'scope-required': {
    status: 403,
    title: 'The API key lacks a scope',
    solution: 'Use a key whose `scopes` have what `detail` names: `POST /v1/projects/{projectId}/keys` with `scopes`.',
  },
  'key-type-not-allowed': {
    status: 403,
    title: 'This type of API key may not do this',
    solution: 'Use a key of a type that `detail` names; `GET /v1/me` shows the type of yours.',
  },
  'origin-not-allowed': {
    status: 403,
    title: 'Pages of this origin may not call',
    solution: 'Ask the operator to add the origin of the page to `MCP_ALLOWED_ORIGINS`.',
  },
  'path-not-found': {
    status: 404,
    title: 'No such path',
    solution: 'Look the path up in `/docs`; paths of the API begin with `/v1`.',
  },
  'unsupported-endpoint': {
    status: 404,
    title: 'Switchyard does not serve this path of OpenAI’s API',
    solution: 'Use an endpoint that `detail` names instead.',
  },
  'organization-not-found': {
    status: 404,
    title: 'No such organization',
    solution: 'List organizations with `GET /v1/organizations`.',
  },
  'customer-not-found': {
    status: 404,
    title: 'No such customer',
    solution: 'List the customers of the partner with `GET /v1/partner/customers`.',
  },
  'project-not-found': {
    status: 404,
    title: 'No such project',
    solution: 'List the projects of the key with `GET /v1/projects`.',
  },
  'key-not-found': {
    status: 404,
    title: 'No such API key',
    solution: 'List the keys of the project with `GET /v1/projects/{projectId}/keys`.',
  },
  'flow-not-found': {
    status: 404,
    title: 'No such flow',
    solution: 'List the flows of the project with `GET /v1/projects/{projectId}/flows`.',
  },
  'flow-version-not-found': {
    status: 404,
    title: 'No such flow version',
    solution: 'List the versions of the flow with `GET /v1/flows/{flowId}/versions`.',
  },
  'phone-number-not-found': {
    status: 404,
    title: 'No such phone number',
    solution: 'List the phone numbers of the project with `GET /v1/projects/{projectId}/phone-numbers`.',
  },
  'agent-profile-not-found': {
    status: 404,
    title: 'No such agent profile',
    solution: 'List the agent profiles of the project with `GET /v1/projects/{projectId}/agent-profiles`.',
  },
  'template-not-found': {
    status: 404,
    title: 'No such template',
    solution: 'List templates with `GET /v1/templates`.',
  },
  'template-version-not-found': {
    status: 404,
    title: 'No such template version',
    solution: 'List the versions of the template with `GET /v1/templates/{templateId}/versions`.',
  },
  'store-not-found': {
    status: 404,
    title: 'No such store',
    solution: 'List the stores of the project with `GET /v1/stores`.',
  },
  'file-not-found': {
    status: 404,
    title: 'No such file',
    solution: 'List the files of the project with `GET /v1/files`; a file may have expired.',
  },
  'batch-not-found': {
    status: 404,
    title: 'No such batch',
    solution: 'List the batches of the project with `GET /v1/batches`.',
  },
  'instance-not-found': {
    status: 404,
    title: 'No such instance',
    solution: 'List instances with `GET /v1/instances`.',
  },
  'webhook-endpoint-not-found': {
    status: 404,
    title: 'No such webhook endpoint',
    solution: 'List webhook endpoints with `GET /v1/webhook-endpoints`.',
  },
  'phone-number-requirement-not-found': {
    status: 404,
    title: 'No such phone number requirement',
    solution: 'Use a `key` of `phoneNumberRequirements` in the template version of the instance.',
  },
  'process-not-found': {
    status: 404,
    title: 'No such process',
    solution: 'List processes with `GET /v1/processes` or `npm run processes`.',
  },
  'projection-not-found': {
    status: 404,
    title: 'No such projection',
    solution: 'List projections with `GET /v1/projections` or `npm run projections`.',
  },
  'call-not-found': {
    status: 404,
    title: 'No such call',
    solution:
      'List the calls of the project with `GET /v1/gateway/calls`; a call appears about a second after its end.',
  },
  'provider-resource-not-found': {
    status: 404,
    title: 'No such resource at the provider that this key can access',
    solution:
      'Send the content itself, as `detail` says: tenants share the account at a provider, and do not meet there.',
  },
  'response-not-found': {
    status: 404,
    title: 'No such stored response',
    solution:
      'Send the whole conversation in `input`. A response is stored for 30 days, unless its request says `store: false`; the operator may have set another time.',
  },
  'response-item-not-found': {
    status: 404,
    title: 'No such item of a stored response',
    solution: 'Send the item itself instead of its id.',
  },
  'model-not-found': {
    status: 404,
    title: 'No such model',
    solution: 'List the models of the gateway with `GET /v1/models`.',
  },
  'read-only': {
    status: 503,
    title: 'This service is read only',
    solution: 'Send the change to the live service: this one shows a past moment.',
  },
  'no-digest': {
    status: 404,
    title: 'There is no digest',
    solution: 'Write the first digest with `POST /v1/digests`, or wait for the next one.',
  },
  'method-not-allowed': {
    status: 405,
    title: 'The path does not take this method',
    solution: 'Use a method that the header `Allow` of the answer names.',
  },
  'body-too-slow': {
    status: 408,
    title: 'The body came too slowly',
    solution: 'Send the request again over a faster connection, or a smaller body.',
  },
  'body-evicted': {
    status: 408,
    title: 'The unfinished body was ended to make room',
    solution: 'Send the whole body without pauses: unfinished bodies make room for others.',
  },
  'flow-version-active': {
    status: 409,
    title: 'The flow version is the active one',
    solution: 'Activate another version first: `POST /v1/flow-versions/{versionId}/activate`.',
  },
  'flow-in-use': {
    status: 409,
    title: 'A phone number points at the flow',
    solution: 'Detach its phone numbers first: `PATCH /v1/phone-numbers/{phoneNumberId}/flow` with `flowId: null`.',
  },
  'phone-number-taken': {
    status: 409,
    title: 'The phone number is taken',
    solution: 'Use another number, or delete the phone number that has it.',
  },
  'default-agent-profile-required': {
    status: 409,
    title: 'The project must keep a default agent profile',
    solution: 'Make another agent profile the default first.',
  },
  'organization-not-partner': {
    status: 409,
    title: 'The organization is not a partner',
    solution: 'Use an organization that was created with `partner: true`.',
  },
  'template-archived': {
    status: 409,
    title: 'The template is archived',
    solution: 'Use another template: an archived one takes no changes, and no instance is made from it.',
  },
  'template-version-not-published': {
    status: 409,
    title: 'The template version is not published',
    solution: 'Publish the version first: `POST /v1/template-versions/{versionId}/publish`.',
  },
  'template-version-not-newer': {
    status: 409,
    title: 'The template version is not newer',
    solution: 'Upgrade to a version with a higher number than that of the instance.',
  },
  'template-version-of-another-template': {
    status: 409,
    title: 'The template version is of another template',
    solution: 'Use a version of the template that the instance was created from.',
  },
  'instance-drifted': {
    status: 409,
    title: 'The instance was changed by hand',
    solution: 'See `drifted` of `GET /v1/instances/{instanceId}`, or upgrade with `onDrift: "replace"`.',
  },
  'nothing-to-retry': {
    status: 409,
    title: 'No operation of the instance failed',
    solution: 'Read `lastOperation` of `GET /v1/instances/{instanceId}`: only a failed one can be retried.',
  },
  'file-in-use': {
    status: 409,
    title: 'A batch reads the file',
    solution: 'Wait for the batch, or cancel it: `POST /v1/batches/{batch_id}/cancel`.',
  },
  'batch-taken-over': {
    status: 409,
    title: 'Another run of the batch has begun',
    solution: 'Do nothing: the newer run continues the batch.',
  },
  'batch-ended': {
    status: 409,
    title: 'The batch has ended',
    solution:
      'Read its `output_file_id` and `error_file_id` with `GET /v1/batches/{batch_id}`; create another batch for more.',
  },
  'too-many-webhook-endpoints': {
    status: 409,
    title: 'There are too many webhook endpoints',
    solution:
      'Delete an endpoint that is not used, or ask the operator for a higher `MAX_WEBHOOK_ENDPOINTS_PER_PROJECT`.',
  },
  'webhook-key-lost': {
    status: 409,
    title: 'The key of the webhook endpoint’s secrets is lost',
    solution: 'Delete the endpoint and create it again: its secrets cannot be read any more.',
  },
  'process-not-stopped': {
    status: 409,
    title: 'The process is not stopped',
    solution: 'Nothing needs to be done for a process that runs: `GET /v1/processes` shows its state.',
  },
  'projection-not-stopped': {
    status: 409,
    title: 'The projection is not stopped',
    solution: 'Nothing needs to be done for a read model that runs: `GET /v1/projections` shows its state.',
  },
  'event-not-stopped': {
    status: 409,
    title: 'No failure is shown at the event',
    solution: 'Name the position of a `failure` that `GET /v1/projections` or `GET /v1/processes` shows.',
  },
  'projection-rebuilding': {
    status: 409,
    title: 'The projection is being rebuilt',
    solution: 'Wait until `rebuild` of `GET /v1/projections` is null.',
  },
  'digest-refused': {
    status: 409,
    title: 'No digest can be written of this log',
    solution: 'Run `npm run events -- verify`, which says where the log is not whole.',
  },
  'usage-not-archived': {
    status: 409,
    title: 'The metering of a day cannot be archived',
    solution: 'Repeat `npm run events -- archive`, which says what is wrong with the day.',
  },
  'idempotency-key-in-progress': {
    status: 409,
    title: 'A request with this Idempotency-Key is still running',
    solution: 'Wait for the first request, then repeat it with the same `Idempotency-Key`.',
  },
  'too-many-conflicts': {
    status: 409,
    title: 'Too many writers at once',
    solution: 'Send the request again after `Retry-After`: others changed the resource meanwhile.',
  },
  'precondition-failed': {
    status: 412,
    title: 'The resource has changed',
    solution: 'Read the resource, and send its new `ETag` in `If-Match`.',
  },
  'body-too-large': {
    status: 413,
    title: 'The body is too large',
    solution: 'Send a smaller body; `detail` has the limit.',
  },
  'conversation-too-long': {
    status: 413,
    title: 'The conversation is too long to be continued',
    solution: 'Begin another conversation, with a summary of this one; `detail` has the limit.',
  },
  'append-too-large': {
    status: 413,
    title: 'The change is too large to be stored',
    solution: 'Split the change: one request may store as much as `detail` says.',
  },
  'file-too-large': {
    status: 413,
    title: 'The file is too large',
    solution: 'Upload a smaller file, or ask the operator for a higher `MAX_FILE_BYTES`.',
  },
  'files-quota-exceeded': {
    status: 413,
    title: 'The project has no room for more files',
    solution: 'Delete files with `DELETE /v1/files/{file_id}`, or ask the operator for a higher `FILES_QUOTA_BYTES`.',
  },
  'unsupported-media-type': {
    status: 415,
    title: 'The media type of the body is not supported',
    solution: 'Send the `Content-Type` that `detail` names.',
  },
  'range-not-satisfiable': {
    status: 416,
    title: 'The file has no such part',
    solution: 'Ask for a `Range` within the size that `Content-Range` names.',
  },
  'invalid-input': {
    status: 422,
    title: 'The input is not valid',
    solution: 'Correct each of `errors`: its `pointer` or `parameter` names the place.',
  },
  'usage-too-recent': {
    status: 422,
    title: 'The days are too recent to be archived',
    solution: 'Archive days that `detail` allows: the last ones stay in the log.',
  },
  'nesting-too-deep': {
    status: 422,
    title: 'The JSON is nested too deeply',
    solution: 'Send JSON with fewer levels; `detail` has the limit.',
  },
  'number-not-exact': {
    status: 422,
    title: 'JSON does not keep the digits of a number',
    solution: 'Send the number as a string, or with fewer digits.',
  },
  'too-many-values': {
    status: 422,
    title: 'The JSON has too many values',
    solution: 'Send JSON with fewer values, or in several requests.',
  },
  'too-many-files': {
    status: 422,
    title: 'The request names too many files',
    solution: 'Name fewer files; `detail` has the limit. Each mention of a file counts.',
  },
  'idempotency-key-reused': {
    status: 422,
    title: 'The Idempotency-Key was used for another body',
    solution: 'Use a new `Idempotency-Key` for another body.',
  },
  'idempotency-key-erased': {
    status: 422,
    title: 'What the Idempotency-Key was used for was erased',
    solution: 'Use a new `Idempotency-Key`: the personal data of the first request was erased.',
  },
  'invalid-header': {
    status: 422,
    title: 'A header is not valid',
    solution: 'Correct the header that `errors` names.',
  },
  'position-beyond-log': {
    status: 422,
    title: 'The log ends before this position',
    solution: 'Send a `Switchyard-Min-Position` of this service: a copy or another log has other positions.',
  },
  'rate-limited': {
    status: 429,
    title: 'Too many requests',
    solution: 'Wait for `Retry-After`, or ask the operator for a higher `REQUESTS_PER_MINUTE`.',
  },
  'too-many-calls': {
    status: 429,
    title: 'Too many calls at once',
    solution: 'Send fewer requests at once, and repeat this one after `Retry-After`.',
  },
  'too-many-webhook-tries': {
    status: 429,
    title: 'Too many tries of the webhook endpoint at once',
    solution: 'Wait for running tries of the endpoint before `POST /v1/webhook-endpoints/{id}/test`.',
  },
  'too-many-feeds': {
    status: 429,
    title: 'Too many live feeds at once',
    solution: 'Close a live feed before another `GET /v1/events`.',
  },
  'too-many-body-bytes': {
    status: 429,
    title: 'Too many bytes in bodies at once',
    solution: 'Wait for running requests with large bodies before the next one.',
  },
  'too-many-answer-bytes': {
    status: 429,
    title: 'Too many bytes in answers that are not read yet',
    solution: 'Read the answers that are open before the next request.',
  },
  'too-many-spool-bytes': {
    status: 429,
    title: 'Too many bytes in uploads at once',
    solution: 'Wait for running uploads before the next `POST /v1/files`.',
  },
  'internal-error': {
    status: 500,
    title: 'Switchyard failed',
    solution: 'Give the operator the `requestId`: the log has the cause under it.',
  },
  'unsupported-by-target': {
    status: 422,
    title: 'No target of the model can do what the request asks',
    solution: 'Leave out what `detail` names, or use a model of `GET /v1/models` whose provider has it.',
  },
  'no-provider': {
    status: 502,
    title: 'No provider of the model can do this',
    solution: 'Use a model of `GET /v1/models` that can do this.',
  },
  'provider-failed': {
    status: 502,
    title: 'The provider failed',
    solution: 'Send the call again; `GET /v1/gateway/targets` shows how the provider does.',
  },
  'provider-key-refused': {
    status: 502,
    title: 'The provider refused the key of the gateway',
    solution: 'Ask the operator to put a valid key of the provider into the gateway’s configuration.',
  },
  'provider-reset': {
    status: 502,
    title: 'The connection to the provider broke',
    solution: 'Send the call again: the connection broke before the answer was complete.',
  },
  'provider-malformed': {
    status: 502,
    title: 'The answer of the provider cannot be read',
    solution: 'Report the model to the operator: its provider does not answer as its interface says.',
  },
  'provider-unfinished': {
    status: 502,
    title: 'The provider ended its answer early',
    solution: 'Send the call again, or use `onStreamFailure: continue` in the gateway’s configuration.',
  },
  'provider-too-large': {
    status: 502,
    title: 'The answer of the provider is too large',
    solution: 'Ask for a shorter answer, for example with `max_tokens`.',
  },
  unavailable: {
    status: 503,
    title: 'Switchyard cannot answer just now',
    solution: 'Send the request again after `Retry-After`; `GET /readyz` shows what is missing.',
  },
  'log-changed': {
    status: 503,
    title: 'The event store no longer has what was read from it',
    solution: 'Send the request again after `Retry-After`; if it stays, tell the operator: `GET /readyz` says where.',
  },
  'stream-unreadable': {
    status: 503,
    title: 'The events of the resource cannot all be read',
    solution:
      'Tell the operator, who must act: `detail` names the event that this release cannot read, or the events that are missing.',
  },
  'bodies-full': {
    status: 503,
    title: 'The node has no room for more bodies',
    solution: 'Send the request to another node, or again after `Retry-After`: this one has no room for bodies.',
  },
  'answers-full': {
    status: 503,
    title: 'The node has no room for more answers',
    solution: 'Send the request to another node, or again after `Retry-After`: this one has no room for answers.',
  },
  'connections-full': {
    status: 503,
    title: 'The node has no connection left',
    solution: 'Send the request to another node, or again after `Retry-After`: this one has no connection left.',
  },
  'spool-full': {
    status: 503,
    title: 'The node has no room for more uploads',
    solution: 'Upload to another node, or again after `Retry-After`: the folder `SPOOL_DIR` is full.',
  },
  'feeds-full': {
    status: 503,
    title: 'The node has no room for more live feeds',
    solution: 'Follow the feed from another node, or ask the operator for a higher `MAX_LIVE_FEEDS`.',
  },
  'disk-full': {
    status: 503,
    title: 'The disk has too little free space',
    solution: 'Ask the operator to free space on the disk of the data.',
  },
  'provider-unreachable': {
    status: 503,
    title: 'The provider cannot be reached',
    solution: 'Ask the operator to check the address of the provider and the network.',
  },
  'provider-overloaded': {
    status: 503,
    title: 'The provider is overloaded or down',
    solution: 'Wait for `Retry-After`, or give the model a second target in the gateway’s configuration.',
  },
  'batches-not-running': {
    status: 503,
    title: 'No node runs batches',
    solution: 'Start a node with the roles `gateway` and `projections`.',
  },
  'read-model-behind': {
    status: 503,
    title: 'The read model has not caught up',
    solution: 'Send the query again: the read model has not yet reached the `Switchyard-Min-Position`.',
  },
  'provider-timeout': {
    status: 504,
    title: 'The provider took too long',
    solution: 'Use a faster model or a stream, or ask the operator for a longer timeout of the provider.',
  },
} as const satisfies Record<string, { status: number; title: string; solution: string }>;

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
  /** The refusal is one of many, because a store is known to be unavailable. Default false. */
  readonly isOutage?: boolean;
}

/** Makes a failure. `detail` has the reason and what to do, and never a secret. */
export function failure(code: FailureCode, detail: string, more: Omit<Failure, 'code' | 'detail'> = {}): Failure {
  return { code, detail, ...more };
}
