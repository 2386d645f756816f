import type { IncomingHttpHeaders } from 'node:http';
import { type Failure, failure } from '#domain/shared/failure.ts';

const jsonType = /^application\/(?:json|[\w!#$&^.+-]+\+json)$|^[\w!#$&^.-]+\/[\w!#$&^.+-]+\+json$/i;
const utf8 = /^"?utf-?8"?$/i;

/**
 * Checks that a request's headers describe uncompressed JSON in UTF-8.
 * @returns why not; null if they do
 */
export function checkJsonMediaType(headers: IncomingHttpHeaders): Failure | null {
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    return failure('unsupported-media-type', 'The body must not be compressed: send it without Content-Encoding.');
  }
  if (headers['content-type'] === 'application/json') return null;
  const [type = '', ...parameters] = (headers['content-type'] ?? '').split(';').map((part) => part.trim());
  if (!jsonType.test(type)) {
    return failure('unsupported-media-type', 'The body must be JSON: send it with Content-Type: application/json.');
  }
  const charset = parameters.find((parameter) => /^charset\s*=/i.test(parameter))?.replace(/^charset\s*=\s*/i, '');
  if (charset !== undefined && !utf8.test(charset)) {
    return failure('unsupported-media-type', 'The body must be UTF-8: send it with charset=utf-8, or without charset.');
  }
  return null;
}
