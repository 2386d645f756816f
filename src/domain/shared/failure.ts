import type { Json } from '#shared/json/json.ts';

/**
 * Codes on which clients can rely, in the order in which the documents list them. What a code means is next to its
 * entity: `src/domain/flow/failures.ts`.
 */
export const failureCodes = [
  'malformed-json',
  'invalid-encoding',
  'response-not-in-background',
  'response-not-finished',
  'bad-request',
  'key-required',
  'key-invalid',
  'scope-required',
  'key-type-not-allowed',
  'origin-not-allowed',
  'path-not-found',
  'unsupported-endpoint',
  'organization-not-found',
  'customer-not-found',
  'project-not-found',
  'key-not-found',
  'flow-not-found',
  'flow-version-not-found',
  'phone-number-not-found',
  'agent-profile-not-found',
  'template-not-found',
  'template-version-not-found',
  'store-not-found',
  'file-not-found',
  'batch-not-found',
  'instance-not-found',
  'webhook-endpoint-not-found',
  'phone-number-requirement-not-found',
  'process-not-found',
  'projection-not-found',
  'call-not-found',
  'provider-resource-not-found',
  'response-not-found',
  'response-item-not-found',
  'model-not-found',
  'read-only',
  'no-digest',
  'method-not-allowed',
  'body-too-slow',
  'body-evicted',
  'flow-version-active',
  'flow-in-use',
  'phone-number-taken',
  'default-agent-profile-required',
  'organization-not-partner',
  'template-archived',
  'template-version-not-published',
  'template-version-not-newer',
  'template-version-of-another-template',
  'instance-drifted',
  'nothing-to-retry',
  'file-in-use',
  'batch-taken-over',
  'batch-ended',
  'too-many-webhook-endpoints',
  'webhook-key-lost',
  'process-not-stopped',
  'projection-not-stopped',
  'event-not-stopped',
  'projection-rebuilding',
  'digest-refused',
  'usage-not-archived',
  'idempotency-key-in-progress',
  'too-many-conflicts',
  'precondition-failed',
  'body-too-large',
  'conversation-too-long',
  'append-too-large',
  'file-too-large',
  'files-quota-exceeded',
  'unsupported-media-type',
  'range-not-satisfiable',
  'invalid-input',
  'usage-too-recent',
  'nesting-too-deep',
  'number-not-exact',
  'too-many-values',
  'too-many-files',
  'idempotency-key-reused',
  'idempotency-key-erased',
  'invalid-header',
  'position-beyond-log',
  'rate-limited',
  'too-many-calls',
  'too-many-webhook-tries',
  'too-many-feeds',
  'too-many-body-bytes',
  'too-many-answer-bytes',
  'too-many-spool-bytes',
  'internal-error',
  'unsupported-by-target',
  'no-provider',
  'provider-failed',
  'provider-key-refused',
  'provider-reset',
  'provider-malformed',
  'provider-unfinished',
  'provider-too-large',
  'unavailable',
  'log-changed',
  'stream-unreadable',
  'bodies-full',
  'answers-full',
  'connections-full',
  'spool-full',
  'feeds-full',
  'disk-full',
  'provider-unreachable',
  'provider-overloaded',
  'batches-not-running',
  'read-model-behind',
  'provider-timeout',
] as const;

export type FailureCode = (typeof failureCodes)[number];

/** What clients read about a code. */
export interface FailureText {
  readonly status: number;
  readonly title: string;
  /** One line for `/docs/problems`, which names the request, header or command that solves it. */
  readonly solution: string;
}

/** The failures of one entity, or of one part of the service. */
export type FailureTexts = Readonly<Partial<Record<FailureCode, FailureText>>>;

/** An error of an input, with its place (RFC 6901). */
export interface InputError {
  readonly pointer: string;
  /** The parameter, if the fault is not in a body. */
  readonly parameter?: string;
  readonly message: string;
  /** The given value, if it may be shown. */
  readonly input?: Json;
}

export interface Failure {
  readonly code: FailureCode;
  /** A text for a person: the reason and what to do. */
  readonly detail: string;
  readonly errors?: ReadonlyArray<InputError>;
  readonly retryAfterSeconds?: number;
  /** The refusal is one of many, because a store is known to be unavailable. Default false. */
  readonly isOutage?: boolean;
}

/** `detail` has the reason and what to do, and never a secret. */
export function failure(code: FailureCode, detail: string, more: Omit<Failure, 'code' | 'detail'> = {}): Failure {
  return { code, detail, ...more };
}
