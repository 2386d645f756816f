import type { UnavailableCause } from '#shared/availability/availability.ts';
import { PermanentlyUnavailableError, UnavailableError } from '#shared/errors/unavailable-error.ts';

/** A failure of gRPC, from the stubs. */
export interface CallFailure {
  /** The status (https://grpc.io/docs/guides/status-codes/); undefined when there was no call. */
  readonly code: number | undefined;
  /** EventStoreDB's own name for what went wrong, from the trailers. */
  readonly exception: string | undefined;
  readonly detail: string;
}

export class TimedOutError extends Error {
  override readonly name = 'TimedOutError';
  readonly code = 4;

  constructor(waitedMs: number) {
    super(`No answer within ${waitedMs} ms`);
  }
}

/** The stream of a call was deleted permanently (tombstoned): nothing can be read from it, or appended to it. */
export class StreamClosedError extends Error {
  override readonly name = 'StreamClosedError';
}

export function eventStoreClosedError(): UnavailableError {
  return new UnavailableError('The event store is closed.');
}

interface Trailers {
  getMap(): Readonly<Record<string, unknown>>;
}

/** Status codes of gRPC. */
const cancelled = 1;
const invalidArgument = 3;
const deadlineExceeded = 4;
const notFound = 5;
const permissionDenied = 7;
const aborted = 10;
const unimplemented = 12;
const internal = 13;
const unavailable = 14;
const unauthenticated = 16;

export function callFailure(error: unknown): CallFailure {
  if (!(error instanceof Error)) return { code: undefined, exception: undefined, detail: String(error) };
  const code = 'code' in error && typeof error.code === 'number' ? error.code : undefined;
  const detail = 'details' in error && typeof error.details === 'string' ? error.details : error.message;
  return { code, exception: trailerOf(error, 'exception'), detail };
}

export function trailerOf(error: unknown, name: string): string | undefined {
  if (!(error instanceof Error) || !('metadata' in error) || !isTrailers(error.metadata)) return undefined;
  return error.metadata.getMap()[name]?.toString();
}

/** True if the server refuses the call, and a retry does not help until a person changes something. */
export function isRefusal(failure: CallFailure): boolean {
  return isLoginRefusal(failure) || isAccessRefusal(failure) || failure.code === invalidArgument;
}

/** True if the server knows neither this user nor this password. */
export function isLoginRefusal({ code, exception }: CallFailure): boolean {
  return code === unauthenticated || exception === 'not-authenticated';
}

/** True if the user lacks the right to make the call. */
export function isAccessRefusal({ code, exception }: CallFailure): boolean {
  return code === permissionDenied || exception === 'access-denied';
}

/** True if no answer came in time: the server or the network may be frozen. */
export function isSilence({ code }: CallFailure): boolean {
  return code === deadlineExceeded;
}

/** True if the node is not the leader, and knows it. */
export function isOfFollower(failure: CallFailure): boolean {
  return isNotLeader(failure) || isNotReady(failure.detail);
}

/** True if the connection carries no more calls, or leads to a node that does not serve them. */
export function isUnusable(failure: CallFailure): boolean {
  return failure.code === unavailable || failure.code === internal || isNotLeader(failure);
}

/** True if another node is the leader, or none. */
export function isNotLeader({ exception }: CallFailure): boolean {
  return exception === 'not-leader';
}

/** The address of the leader as `host:port`; null if the node does not name it. */
export function leaderIn(error: unknown): string | null {
  const host = trailerOf(error, 'leader-endpoint-host');
  const port = trailerOf(error, 'leader-endpoint-port');
  return host === undefined || port === undefined ? null : `${host}:${port}`;
}

/** True if the stream was closed permanently (tombstoned), or deleted while the call was for an existing stream. */
export function isDeleted({ exception }: CallFailure): boolean {
  return exception === 'stream-deleted';
}

/** True if the stream is at another revision than the call expects. */
export function isConflict({ exception }: CallFailure): boolean {
  return exception === 'wrong-expected-version';
}

/** True if the position of a read of `$all` is that of no event. Releases have different words for it. */
export function isInvalidPosition({ detail }: CallFailure): boolean {
  return /ReadAllResult: (Error|InvalidPosition)|invalid position/i.test(detail);
}

function isTrailers(value: unknown): value is Trailers {
  return typeof value === 'object' && value !== null && 'getMap' in value;
}

/** True if the server itself has answered, and answers this user. */
export function isServerAnswer(failure: CallFailure): boolean {
  const { code, exception, detail } = failure;
  if (isLoginRefusal(failure) || isAccessRefusal(failure)) return false;
  if (isNotReady(detail) || exception === 'not-leader' || code === notFound) return false;
  if (exception !== undefined) return true;
  return ![undefined, cancelled, deadlineExceeded, internal, unavailable].includes(code) && code !== aborted;
}

/** The cause from the failure and its causes. */
export function callCauseOf(error: unknown): UnavailableCause {
  const text = textOf(error);
  const known = knownCauses.find(({ pattern }) => pattern.test(text));
  if (known !== undefined) return known.cause;
  return { detail: detailOf(callFailure(error)), isPermanent: false };
}

function detailOf(failure: CallFailure): string {
  const { code, exception, detail } = failure;
  if (exception === 'not-leader') return 'its leader is changing';
  if (exception !== undefined) return `it says ${exception}`;
  if (isNotReady(detail)) return 'it is not ready: it starts, or has no leader';
  if (isTooBusy(detail)) return 'it is too busy';
  if (isUnanswered(failure)) return 'it cannot be reached: nothing answers at the host and port in EVENT_STORE_URL';
  switch (code) {
    case deadlineExceeded:
      return silence;
    case cancelled:
    case internal:
      return 'the connection broke';
    case unimplemented:
      return 'EVENT_STORE_URL names a server that is neither EventStoreDB nor KurrentDB';
    default:
      return `it answers with gRPC status ${code}`;
  }
}

const silence = 'it does not answer in time';

/** The cause when the server is reached and says nothing. */
export const silentServer: UnavailableCause = { detail: silence, isPermanent: false };

/** True if nothing has answered the call, and the connection was refused or is broken. */
export function isUnanswered({ code, exception, detail }: CallFailure): boolean {
  if (exception !== undefined || isNotReady(detail) || isTooBusy(detail)) return false;
  return code === undefined || code === unavailable;
}

/** A server writes "Server Is Not Ready", and before it can check passwords "Server not ready". */
function isNotReady(detail: string): boolean {
  return /Server (?:is )?not ready/i.test(detail);
}

function isTooBusy(detail: string): boolean {
  return /Server Is Too Busy/i.test(detail);
}

/** The text of the error and of what caused it. */
function textOf(error: unknown): string {
  const texts: string[] = [];
  let current: unknown = error;
  for (let depth = 0; depth < 5 && current instanceof Error; depth += 1) {
    const { code, exception, detail } = callFailure(current);
    texts.push(`${current.message} ${detail} ${exception ?? ''} code=${code ?? ''}`);
    current = current.cause;
  }
  return texts.join('\n');
}

function permanent(pattern: RegExp, detail: string) {
  return { pattern, cause: { detail, isPermanent: true } };
}

const knownCauses: ReadonlyArray<{ readonly pattern: RegExp; readonly cause: UnavailableCause }> = [
  permanent(
    /self[- ]signed certificate|unable to (?:verify|get)|UNABLE_TO_|SELF_SIGNED|CERT_|certificate has expired|ERR_TLS_CERT|altnames/i,
    "the server's certificate is not trusted: add tlsCAFile=/path/to/ca.crt to EVENT_STORE_URL, and use a host name that the certificate names",
  ),
  permanent(
    /wrong version number|packet length too long|EPROTO|SSL routines|ssl3_get_record/i,
    'EVENT_STORE_URL says TLS and the server speaks plain text: add tls=false to it, or give the server a certificate',
  ),
  permanent(
    /Protocol error|NGHTTP2_PROTOCOL_ERROR|ERR_HTTP2_ERROR|HTTP2_ERROR/i,
    'EVENT_STORE_URL says tls=false and the server answers with something else than plain HTTP/2, TLS most likely: use tls=true',
  ),
  permanent(
    new RegExp(`code=${unauthenticated}\\b|not-authenticated|unauthenticated`, 'i'),
    'the user or password in EVENT_STORE_URL is wrong or missing: esdb://user:password@host (percent-encoded)',
  ),
  permanent(
    new RegExp(`code=${permissionDenied}\\b|access-denied|Access Denied`, 'i'),
    'the user in EVENT_STORE_URL lacks rights: reading `$all` needs `$admins`, or a place in the access list of `$all`',
  ),
  {
    pattern: /ENOTFOUND|EAI_AGAIN|Name resolution failed/i,
    cause: {
      detail: 'the host name in EVENT_STORE_URL is unknown: check it, and the resolver (DNS)',
      isPermanent: false,
    },
  },
];

/**
 * The error with its cause, without addresses and secrets.
 * @param what the middle of "The event store … : it does not answer in time."
 * @param failure a call's failure or its cause; an UnavailableError is returned unchanged
 */
export function unavailableError(what: string, failure: unknown): UnavailableError {
  if (failure instanceof UnavailableError) return failure;
  return errorOf(what, isCause(failure) ? failure : callCauseOf(failure), false);
}

/** The error for callers during an outage. The line of the outage names its cause already. */
export function outageError(what: string, cause: UnavailableCause): UnavailableError {
  return errorOf(what, cause, true);
}

function errorOf(what: string, { detail, isPermanent }: UnavailableCause, isLogged: boolean): UnavailableError {
  const SomeUnavailableError = isPermanent ? PermanentlyUnavailableError : UnavailableError;
  return new SomeUnavailableError(`The event store ${what}: ${detail}.`, undefined, isLogged);
}

function isCause(value: unknown): value is UnavailableCause {
  return typeof value === 'object' && value !== null && 'isPermanent' in value && 'detail' in value;
}
