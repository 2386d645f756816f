import {
  MongoBulkWriteError,
  MongoClientClosedError,
  MongoNetworkError,
  MongoNotConnectedError,
  MongoOperationTimeoutError,
  MongoServerClosedError,
  MongoServerError,
  MongoSystemError,
  MongoTopologyClosedError,
  MongoWriteConcernError,
} from 'mongodb';
import type { UnavailableCause } from '#shared/availability/availability.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';

export const duplicateKey = 11000;

const authenticationFailed = 18;

/** The server's error codes for temporary failures: it stops, starts, elects, is too slow, or its disk is full. */
const passingCodes = new Set([
  1, // InternalError
  6, // HostUnreachable
  7, // HostNotFound
  authenticationFailed, // While credentials are being changed
  43, // CursorNotFound: its server was restarted, or the collection was dropped meanwhile
  50, // MaxTimeMSExpired
  64, // WriteConcernFailed
  89, // NetworkTimeout
  91, // ShutdownInProgress
  133, // FailedToSatisfyReadPreference
  175, // QueryPlanKilled: the collection was dropped meanwhile
  189, // PrimarySteppedDown
  262, // ExceededTimeLimit
  9001, // SocketException
  10107, // NotWritablePrimary
  duplicateKey, // Every write here that can meet it is right when it is sent again
  11600, // InterruptedAtShutdown
  11602, // InterruptedDueToReplStateChange
  13388, // StaleConfig
  13435, // NotPrimaryNoSecondaryOk
  13436, // NotPrimaryOrSecondary
  14031, // OutOfDiskSpace
]);

/** With these codes a server refuses calls because it is not the primary, or ceases to be it. */
const electionCodes = new Set<unknown>([91, 189, 10107, 11600, 11602, 13435, 13436]);

export function awayError({ detail }: UnavailableCause): UnavailableError {
  return new UnavailableError(`MongoDB cannot be used: ${detail}.`, undefined, true);
}

/** The driver's texts may contain addresses, so none is passed on. @param urlName the operator's name of the address */
export function probeCauseOf(failure: unknown, urlName: string): UnavailableCause {
  const text = textOf(failure);
  const detail = knownCauses.find(({ pattern }) => pattern.test(text))?.detail ?? defaultDetail;
  return { detail: detail(urlName), isPermanent: false };
}

const defaultDetail = (url: string) =>
  `it does not answer in time: check that the server of ${url} runs and, in a replica set, has a primary`;

const knownCauses: ReadonlyArray<{ readonly pattern: RegExp; readonly detail: (urlName: string) => string }> = [
  {
    pattern: /ENOTFOUND|EAI_AGAIN|querySrv/,
    detail: (url) => `the host name in ${url} is unknown: check it, and the resolver (DNS)`,
  },
  {
    pattern: /ECONNREFUSED|EHOSTUNREACH|ENETUNREACH/,
    detail: (url) => `nothing answers at the host and port in ${url}: check them, and that the server runs`,
  },
  {
    pattern: /wrong version number|packet length too long|EPROTO|SSL routines|before secure TLS connection/i,
    detail: (url) =>
      `${url} says TLS and the server speaks plain text: use tls=false, or give the server a certificate`,
  },
  {
    pattern: /certificate|CERT_|altnames/i,
    detail: (url) =>
      `the server's certificate is not trusted: add tlsCAFile=/path/to/ca.crt to ${url}, and use a host name that the certificate names`,
  },
  {
    pattern: /ECONNRESET|EPIPE|closed/,
    detail: (url) => `the connection broke: check that the server of ${url} runs, and whether it needs tls=true`,
  },
];

function textOf(error: unknown): string {
  const texts: string[] = [];
  for (let current = error; current instanceof Error && texts.length < 5; current = current.cause)
    texts.push(`${current.message} ${'code' in current ? current.code : ''}`);
  return texts.join(' ');
}

/**
 * Returns an UnavailableError in place of a temporary failure; any other failure unchanged. The message contains only
 * the driver's class and the server's code, because texts may contain addresses and documents.
 * @param urlName the operator's name of the address
 */
export function namedFailure(error: unknown, urlName: string): unknown {
  if (!passes(error)) return error;
  const code = error instanceof MongoServerError ? error.code : undefined;
  if (code === authenticationFailed)
    return new UnavailableError(
      `MongoDB cannot be used: the user or password in ${urlName} is wrong (mongodb://user:password@host, percent-encoded).`,
    );
  const message = `MongoDB cannot be used just now (${error.name}${code === undefined ? '' : ` ${code}`}).`;
  return new UnavailableError(message, undefined, isElection(error) || error instanceof MongoNetworkError);
}

/** True if the server's replica set has no primary just now. */
export function isElection(error: unknown): boolean {
  return error instanceof MongoServerError && electionCodes.has(error.code);
}

/** True if the driver has closed the client of the call, which never works again. */
export function isOfClosedClient(error: unknown): boolean {
  return [MongoNotConnectedError, MongoTopologyClosedError, MongoClientClosedError].some(
    (kind) => error instanceof kind,
  );
}

/** A refusal is an answer, too. */
export function isMongoDbAnswer(error: unknown): boolean {
  if (error instanceof MongoBulkWriteError && metBy(error) instanceof Error) return isMongoDbAnswer(metBy(error));
  return error instanceof MongoServerError;
}

/** True if the bulk write failed only because documents existed already. */
export function areDuplicates(error: unknown): boolean {
  if (!(error instanceof MongoBulkWriteError) || isUnconfirmed(error)) return false;
  return codesOf(error).every((code) => code === duplicateKey);
}

/**
 * The codes of Node's errors when the driver writes to a socket that the server has just closed. The driver does not
 * wrap them.
 */
const socketCodes = new Set<unknown>(['EPIPE', 'ECONNRESET', 'ERR_STREAM_DESTROYED', 'ERR_STREAM_WRITE_AFTER_END']);

/** The names of the driver's errors about its connection pool, whose classes it does not export. */
const poolErrors = new Set(['MongoWaitQueueTimeoutError', 'MongoPoolClosedError']);

function passes(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  if (('code' in error && socketCodes.has(error.code)) || poolErrors.has(error.name)) return true;
  if (isUnconfirmed(error)) return true;
  if (error instanceof MongoBulkWriteError) return bulkPasses(error);
  if (error instanceof MongoServerError) return isPassingCode(error.code) || error.hasErrorLabel('RetryableWriteError');
  return [
    MongoNetworkError,
    MongoSystemError,
    MongoOperationTimeoutError,
    MongoNotConnectedError,
    MongoTopologyClosedError,
    MongoServerClosedError,
    MongoClientClosedError,
  ].some((kind) => error instanceof kind);
}

/**
 * True if the server has written and cannot say that enough members have the write. It may be lost, so it is sent
 * again, whatever the code of the error.
 */
function isUnconfirmed(error: Error): boolean {
  if (error instanceof MongoBulkWriteError) return error.result?.getWriteConcernError() !== undefined;
  return error instanceof MongoWriteConcernError;
}

/** The driver wraps all its errors. For a broken connection the wrapper has no code. */
function bulkPasses(error: MongoBulkWriteError): boolean {
  const met = metBy(error);
  return met instanceof Error ? passes(met) : codesOf(error).every(isPassingCode);
}

function metBy({ errorResponse }: MongoBulkWriteError): unknown {
  return errorResponse;
}

/** The codes of the first error, and of each single write. */
function codesOf({ code, writeErrors }: MongoBulkWriteError): ReadonlyArray<unknown> {
  return [code, ...[writeErrors].flat().map((one) => one.code)];
}

function isPassingCode(code: unknown): boolean {
  return typeof code === 'number' && passingCodes.has(code);
}

/**
 * The server's error code for a document whose key exists already, for example because two writers create it at the
 * same time.
 */

export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === duplicateKey;
}
