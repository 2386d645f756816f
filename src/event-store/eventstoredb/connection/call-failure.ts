/** A gRPC call's failure from the stubs. */
export interface CallFailure {
  /** The status (https://grpc.io/docs/guides/status-codes/); undefined when there was no call. */
  readonly code: number | undefined;
  /** EventStoreDB's own name for what went wrong, from the trailers. */
  readonly exception: string | undefined;
  readonly detail: string;
}

/** No answer came in time. */
export class TimedOutError extends Error {
  override readonly name = 'TimedOutError';
  /** The gRPC status of a deadline exceeded, which it is treated as. */
  readonly code = 4;

  /** @param waitedMs the length of the wait */
  constructor(waitedMs: number) {
    super(`No answer within ${waitedMs} ms`);
  }
}

interface Trailers {
  getMap(): Readonly<Record<string, unknown>>;
}

const invalidArgument = 3;
const deadlineExceeded = 4;
const permissionDenied = 7;
const internal = 13;
const unauthenticated = 16;

/** Reads the failure from the error of a call. */
export function callFailure(error: unknown): CallFailure {
  if (!(error instanceof Error)) return { code: undefined, exception: undefined, detail: String(error) };
  const code = 'code' in error && typeof error.code === 'number' ? error.code : undefined;
  const detail = 'details' in error && typeof error.details === 'string' ? error.details : error.message;
  return { code, exception: trailerOf(error, 'exception'), detail };
}

/** A trailer of a failed call; undefined if it is missing. */
export function trailerOf(error: unknown, name: string): string | undefined {
  if (!(error instanceof Error) || !('metadata' in error) || !isTrailers(error.metadata)) return undefined;
  return error.metadata.getMap()[name]?.toString();
}

/** The server refuses the call, and a retry does not help until a person changes something. */
export function isRefusal({ code, exception }: CallFailure): boolean {
  return (
    code === permissionDenied || code === unauthenticated || code === invalidArgument || exception === 'access-denied'
  );
}

/** No answer came in time: the server or the network may be frozen. */
export function isSilence({ code }: CallFailure): boolean {
  return code === deadlineExceeded;
}

/** The call broke off without a status: the server stops, or the connection carries no more calls. */
export function isBroken({ code }: CallFailure): boolean {
  return code === internal;
}

/** The stream was closed for good (tombstoned), or deleted while the call was for an existing stream. */
export function isDeleted({ exception }: CallFailure): boolean {
  return exception === 'stream-deleted';
}

/** The stream is at another revision than the call expects. */
export function isConflict({ exception }: CallFailure): boolean {
  return exception === 'wrong-expected-version';
}

function isTrailers(value: unknown): value is Trailers {
  return typeof value === 'object' && value !== null && 'getMap' in value;
}
