import type { StreamingRequest } from '#application/operations/operation.ts';
import { createErrorResponse } from '#application/responses/problem.ts';
import type { Failure } from '#domain/shared/failure.ts';

/**
 * Refuses a request to the control plane whose operation writes its response itself. The answer has problem details, as
 * for all other operations.
 * @param path the path of the request
 */
export function sendProblem(
  { response, requestId }: Pick<StreamingRequest, 'response' | 'requestId'>,
  failure: Failure,
  path: string,
): void {
  const refused = { plane: 'control', onBothPlanes: false, requestId, path, hasBody: true } as const;
  const { status, contentType, body, retryAfterSeconds } = createErrorResponse(failure, refused);
  const headers = ['Content-Type', contentType, 'Cache-Control', 'no-store'];
  if (retryAfterSeconds !== null) headers.push('Retry-After', String(retryAfterSeconds));
  response.send(status, headers, JSON.stringify(body));
}
