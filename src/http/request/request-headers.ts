import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { checkIdempotencyKey } from '#application/operations/idempotency-key.ts';
import type { RequestHeaders } from '#application/operations/operation-request.ts';
import { looksLikeKey } from '#domain/api-key/secret.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { invalidInput } from '#exchange/input-errors.ts';

const requestIdForm = /^[A-Za-z0-9._-]{1,128}$/;

/** Returns the client's `X-Request-Id` if it is 1 to 128 letters, digits, dots, underscores and dashes; else a UUID. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && requestIdForm.test(given) ? given : randomUUID();
}

const bearer = /^bearer +(\S+) *$/i;

/**
 * Returns the API key of a request, from `Authorization: Bearer` or `x-api-key`.
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

/** @param rawHeaders names and values in turn, as they were received */
function countFields(rawHeaders: ReadonlyArray<string>, name: string): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const field = rawHeaders[index];
    if (field?.length === name.length && field.toLowerCase() === name) count += 1;
  }
  return count;
}

/** Returns the API key in the headers of a request that was accepted; null without one, or with two that differ. */
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
 * Returns what is wrong with the header of a request that has no key where it belongs, if a key is seen elsewhere. It is
 * recognized by its form alone: it is neither looked up nor repeated.
 */
export function keyFaultOf(headers: IncomingHttpHeaders): Failure | null {
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

/** A revision that no resource ever has. */
export const neverRevision = -2;

const entityTag = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/;
const strongRevision = /^"(\d{1,15})"$/;

/**
 * Returns the revision that `If-Match` asks for. Weak tags never match (RFC 9110, 13.1.1), nor do unknown tags.
 * @returns null without a header or for `*`; `neverRevision` for a tag that cannot match
 */
export function ifMatchOf(headers: IncomingHttpHeaders): number | null {
  const header = headers['if-match'];
  if (header === undefined || header.trim() === '*') return null;
  const tags = header.split(',').map((tag) => tag.trim());
  if (!tags.every((tag) => entityTag.test(tag))) return neverRevision;
  const revisions = tags.flatMap((tag) => strongRevision.exec(tag)?.[1] ?? []);
  const [revision] = revisions;
  // A command takes one revision only, and a refusal is the safe answer to a list of two.
  return revision === undefined || revisions.length > 1 ? neverRevision : Number(revision);
}

/** Returns `Idempotency-Key`, or why it is invalid; null without one. */
function idempotencyKeyOf(headers: IncomingHttpHeaders): string | Failure | null {
  const header = headers['idempotency-key'];
  if (header === undefined) return null;
  return checkIdempotencyKey(header) ?? (header as string);
}

/** No name and no address has this form, so that none gets into the log. */
const opaqueId = /^[A-Za-z0-9._:-]{1,64}$/;

/** Returns `Switchyard-On-Behalf-Of`, or why it is invalid; null without one. */
function onBehalfOfIn(headers: IncomingHttpHeaders): string | Failure | null {
  const header = headers['switchyard-on-behalf-of'];
  if (header === undefined) return null;
  if (typeof header === 'string' && opaqueId.test(header)) return header;
  const form = '1 to 64 letters, digits, dots, colons, underscores and dashes';
  return failure('invalid-header', `Switchyard-On-Behalf-Of must be an opaque id of your own system: ${form}.`);
}

const position = /^\d{1,15}$/;

/** Returns `Switchyard-Min-Position`, or why it is invalid; null without one. */
function minPositionOf(headers: IncomingHttpHeaders): number | Failure | null {
  const header = headers['switchyard-min-position'];
  if (header === undefined) return null;
  if (typeof header === 'string' && position.test(header)) return Number(header);
  return failure('invalid-header', 'Switchyard-Min-Position must be the digits of a Switchyard-Position.');
}

/**
 * Reads the headers of a request that operations use.
 * @param isCommand false for queries, which take neither `If-Match` nor `Idempotency-Key`
 */
export function requestHeadersOf(headers: IncomingHttpHeaders, isCommand: boolean): RequestHeaders {
  const idempotencyKey = isCommand ? idempotencyKeyOf(headers) : null;
  const minPosition = minPositionOf(headers);
  const onBehalfOf = isCommand ? onBehalfOfIn(headers) : null;
  return {
    ifMatch: isCommand ? ifMatchOf(headers) : null,
    idempotencyKey: isFailure(idempotencyKey) ? null : idempotencyKey,
    minPosition: isFailure(minPosition) ? null : minPosition,
    ...(headers.accept === undefined ? {} : { accept: headers.accept }),
    ...(typeof onBehalfOf === 'string' ? { onBehalfOf } : {}),
    fault: [idempotencyKey, minPosition, onBehalfOf].find(isFailure) ?? null,
  };
}

function isFailure(value: string | number | Failure | null): value is Failure {
  return typeof value === 'object' && value !== null;
}

/**
 * Whether `If-None-Match` names an ETag. Weak tags are compared like strong ones (RFC 9110, 13.1.2).
 * @param header undefined without one
 * @param etag with its quotes
 */
export function isNamedIn(header: string | undefined, etag: string): boolean {
  const named = (header ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return named.includes(etag) || named.includes('*');
}

const name = 'dryRun';

/** Reads `dryRun` from a command's query. `fault` is why its value is invalid. */
export function readDryRun(query: string): Pick<RequestHeaders, 'dryRun'> & Partial<Pick<RequestHeaders, 'fault'>> {
  // Most requests have no query.
  if (!query.includes(name)) return {};
  const [value, ...others] = new URLSearchParams(query).getAll(name);
  if (value === undefined || (value === 'false' && others.length === 0)) return {};
  if (value === 'true' && others.length === 0) return { dryRun: true };
  const message = others.length > 0 ? 'must be given once' : 'must be true or false';
  // A misspelt value must not turn a dry run into a change.
  return { dryRun: true, fault: invalidInput([{ pointer: `/${name}`, parameter: name, message }]) };
}

/** Returns the query without `dryRun`, to recognize a repeated request. */
export function withoutDryRun(query: string): string {
  if (!query.includes(name)) return query;
  const parameters = new URLSearchParams(query);
  parameters.delete(name);
  return parameters.toString();
}
