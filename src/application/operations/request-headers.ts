import type { IncomingHttpHeaders } from 'node:http';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import type { Request } from '#exchange/request.ts';

export interface RequestHeaders {
  /** The revision in `If-Match`; null without one or with `*`. */
  readonly ifMatch: number | null;
  readonly idempotencyKey: string | null;
  /** `Switchyard-Min-Position`. */
  readonly minPosition: number | null;
  /** The command decides and answers, without any effect. */
  readonly dryRun?: boolean;
  /** `Switchyard-On-Behalf-Of`; absent without one. */
  readonly onBehalfOf?: string;
  /** `Accept`; absent without one. */
  readonly accept?: string;
  /** Why a header is invalid. Its member is null then. */
  readonly fault: Failure | null;
}

/** A revision that no resource ever has. */
export const neverRevision = -2;

const entityTag = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/;
const strongRevision = /^"(\d{1,16})"$/;

/**
 * Weak tags never match (RFC 9110, 13.1.1), nor do unknown tags.
 * @returns null without a header or for `*`; `neverRevision` for a tag that cannot match
 */
export function ifMatchOf(headers: IncomingHttpHeaders): number | null {
  const header = headers['if-match'];
  if (header === undefined || header.trim() === '*') return null;
  const tags = header.split(',').map((tag) => tag.trim());
  if (!tags.every((tag) => entityTag.test(tag))) return neverRevision;
  const revisions = tags.map((tag) => Number(strongRevision.exec(tag)?.[1])).filter(Number.isSafeInteger);
  const [revision] = revisions;
  // A command takes one revision only, and a refusal is the safe answer to a list of two.
  return revision === undefined || revisions.length > 1 ? neverRevision : revision;
}

const printableAscii = /^[\x20-\x7e]{1,255}$/;

/** Null if the key is valid. */
export function checkIdempotencyKey(text: unknown): Failure | null {
  if (typeof text === 'string' && printableAscii.test(text)) return null;
  return failure(
    'invalid-header',
    'Idempotency-Key must be 1 to 255 printable ASCII characters; blanks around it do not count.',
  );
}

/** Null without the header. */
function idempotencyKeyOf(headers: IncomingHttpHeaders): string | Failure | null {
  const header = headers['idempotency-key'];
  if (header === undefined) return null;
  return checkIdempotencyKey(header) ?? (header as string);
}

/** No name and no address has this form, so that none gets into the log. */
const opaqueId = /^[A-Za-z0-9._:-]{1,64}$/;

/** Null without the header. */
function onBehalfOfIn(headers: IncomingHttpHeaders): string | Failure | null {
  const header = headers['switchyard-on-behalf-of'];
  if (header === undefined) return null;
  if (typeof header === 'string' && opaqueId.test(header)) return header;
  const form = '1 to 64 letters, digits, dots, colons, underscores and dashes';
  return failure('invalid-header', `Switchyard-On-Behalf-Of must be an opaque id of your own system: ${form}.`);
}

const position = /^\d{1,15}$/;

/** Null without the header. */
function minPositionOf(headers: IncomingHttpHeaders): number | Failure | null {
  const header = headers['switchyard-min-position'];
  if (header === undefined) return null;
  if (typeof header === 'string' && position.test(header)) return Number(header);
  return failure('invalid-header', 'Switchyard-Min-Position must be the digits of a Switchyard-Position.');
}

/**
 * What the headers say in addition to the input.
 * @param isCommand false for queries, which take neither `If-Match`, `Idempotency-Key` nor `dryRun`
 */
export function requestHeadersOf(
  { headers, query }: Pick<Request, 'headers' | 'query'>,
  isCommand: boolean,
): RequestHeaders {
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
    ...(isCommand ? readDryRun(query) : {}),
  };
}

function isFailure(value: string | number | Failure | null): value is Failure {
  return typeof value === 'object' && value !== null;
}

const name = 'dryRun';

/** Reads `dryRun` of a command. `fault` is why the value is invalid. */
function readDryRun(query: string): Pick<RequestHeaders, 'dryRun'> & Partial<Pick<RequestHeaders, 'fault'>> {
  // Most requests have no query.
  if (!query.includes(name)) return {};
  const [value, ...others] = new URLSearchParams(query).getAll(name);
  if (value === undefined || (value === 'false' && others.length === 0)) return {};
  if (value === 'true' && others.length === 0) return { dryRun: true };
  const message = others.length > 0 ? 'must be given once' : 'must be true or false';
  // A misspelt value must not turn a dry run into a change.
  return { dryRun: true, fault: invalidInput([{ pointer: `/${name}`, parameter: name, message }]) };
}

/** Removes `dryRun`, to recognize a repeated request. */
export function withoutDryRun(query: string): string {
  if (!query.includes(name)) return query;
  const parameters = new URLSearchParams(query);
  parameters.delete(name);
  return parameters.toString();
}

const strictHandling = /(?:^|,)\s*handling\s*=\s*"?strict"?\s*(?:[;,]|$)/i;

/** `Prefer: handling=strict` (RFC 7240) asks to refuse what an operation does not know or cannot do. */
export function isStrict({ prefer }: IncomingHttpHeaders): boolean {
  return prefer !== undefined && strictHandling.test([prefer].flat().join(', '));
}
