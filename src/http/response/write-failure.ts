import { ifMatchOf, neverRevision } from '#application/operations/request-headers.ts';
import { type Failure, type FailureCode, failure } from '#domain/shared/failure.ts';
import { createErrorResponse } from '#exchange/problem.ts';
import type { RequestContext } from '#http/request/request-context.ts';
import { apiSecurityHeaders, noStoreHeaders, writeResponse } from '#http/response/response.ts';

/** Writes a failure in the form of its plane. @param allowedMethods of its path, for `Allow` */
export function writeFailure(context: RequestContext, refusal: Failure, allowedMethods: ReadonlyArray<string>): void {
  const answer = createErrorResponse(isTagUnknown(context, refusal) ? noSuchTag : refusal, context);
  context.code = refusal.code;
  context.isOutage = refusal.isOutage === true;
  const fields = [...apiSecurityHeaders, ...noStoreHeaders, ...context.limitHeaders, ...context.ignoredHeaders];
  const { requestIdHeader: name } = context.errorForm;
  if (context.plane === 'gateway' && name !== null) fields.push(name, context.requestId);
  fields.push('Content-Type', answer.contentType);
  if (refusal.code === 'method-not-allowed') fields.push('Allow', allowedMethods.join(', '));
  if (answer.status === 401) fields.push('WWW-Authenticate', challenge(refusal));
  if (answer.retryAfterSeconds !== null) fields.push('Retry-After', String(answer.retryAfterSeconds));
  if (isVainConflict(context, refusal, answer.status)) fields.push('X-Should-Retry', 'false');
  writeResponse(context.ctx, answer.status, fields, JSON.stringify(answer.body));
}

/** Conflicts that end without the client. */
const passingConflicts: ReadonlySet<FailureCode> = new Set(['idempotency-key-in-progress', 'too-many-conflicts']);

/**
 * True for a conflict that a repetition cannot end. OpenAI's SDKs, which repeat every 409, would repeat the request in
 * vain.
 */
function isVainConflict({ plane }: RequestContext, { code }: Failure, status: number): boolean {
  return plane === 'gateway' && status === 409 && !passingConflicts.has(code);
}

const noSuchTag = failure(
  'precondition-failed',
  'If-Match holds no ETag that this resource can have: send one as given, like "3".',
);

/** True if `If-Match` holds an ETag that this service cannot have sent. */
function isTagUnknown({ ctx }: RequestContext, { code }: Failure): boolean {
  return code === 'precondition-failed' && ifMatchOf(ctx.req.headers) === neverRevision;
}

function challenge(refusal: Failure): string {
  const error = refusal.code === 'key-invalid' ? ', error="invalid_token"' : '';
  return `Bearer realm="switchyard"${error}`;
}
