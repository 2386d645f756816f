import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { looksLikeKey } from '#domain/api-key/secret.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';

const requestIdForm = /^[A-Za-z0-9._-]{1,128}$/;

/** The client's `X-Request-Id` if it is 1 to 128 letters, digits, dots, underscores and dashes; else a UUID. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && requestIdForm.test(given) ? given : randomUUID();
}

const bearer = /^bearer +(\S+) *$/i;

/**
 * The key in `Authorization: Bearer` or `x-api-key`.
 * @returns null without one, if both are there and differ, or if one field is there twice: Node keeps the first
 * `Authorization` alone, but something in front of this service may have judged the second
 */
export function presentedKeyOf({
  headers,
  rawHeaders,
}: Pick<IncomingMessage, 'headers' | 'rawHeaders'>): string | null {
  return keyFields.every((name) => countFields(rawHeaders, name) <= 1) ? keyIn(headers) : null;
}

const keyFields = ['authorization', 'x-api-key'];

/** @param rawHeaders alternating names and values, as they were received */
function countFields(rawHeaders: ReadonlyArray<string>, name: string): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const field = rawHeaders[index];
    if (field?.length === name.length && field.toLowerCase() === name) count += 1;
  }
  return count;
}

/** The key of a request that was accepted; null without a key, or with two that differ. */
export function keyIn(headers: IncomingHttpHeaders): string | null {
  const plain = headers['x-api-key'];
  const { authorization } = headers;
  if (authorization === undefined) return typeof plain === 'string' && plain !== '' ? plain : null;
  const key = bearer.exec(authorization)?.[1] ?? null;
  return plain === undefined || plain === key ? key : null;
}

const twoKeys = failure(
  'key-required',
  'x-api-key and Authorization hold two different keys: send one of them. For clients of Anthropic, unset ANTHROPIC_API_KEY, which is sent in x-api-key, or ANTHROPIC_AUTH_TOKEN, which is sent in Authorization.',
);

/**
 * The fault of a key that is not where it belongs. It is recognized by its form alone: it is neither looked up nor
 * repeated.
 */
export function misplacedKeyFault(headers: IncomingHttpHeaders): Failure | null {
  if (headers['x-api-key'] !== undefined && bearer.test(headers.authorization ?? '')) return twoKeys;
  if (looksLikeKey(headers.authorization))
    return failure('key-required', 'Authorization has a key without its scheme: write Authorization: Bearer <key>.');
  if (looksLikeKey(headers['x-goog-api-key']))
    return failure(
      'key-required',
      'x-goog-api-key is not read: send the key in x-api-key, or as Authorization: Bearer <key>.',
    );
  return null;
}

/**
 * True if `If-None-Match` names the tag. Weak tags are compared like strong ones (RFC 9110, 13.1.2).
 * @param etag with its quotes
 */
export function isNamedIn(header: string | undefined, etag: string): boolean {
  const named = (header ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return named.includes(etag) || named.includes('*');
}
