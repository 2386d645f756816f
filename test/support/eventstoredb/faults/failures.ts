import { Metadata, type ServerErrorResponse, status } from '@grpc/grpc-js';

/** The end of a failed call: status, text and trailers, as a 23.10 server sends them. */
export interface CallFailure extends ServerErrorResponse {
  readonly code: status;
}

function failure(code: status, details: string, trailers: Record<string, string> = {}): CallFailure {
  return { name: 'Error', message: details, code, details, metadata: Metadata.fromHttp2Headers(trailers) };
}

export function thrownByHandler(): CallFailure {
  return failure(status.UNKNOWN, 'Exception was thrown by handler.');
}

export function unknown(details: string): CallFailure {
  return failure(status.UNKNOWN, details);
}

export function invalidArgument(details: string): CallFailure {
  return failure(status.INVALID_ARGUMENT, details);
}

/** Of a subscription since 24. */
export function invalidPosition(): CallFailure {
  return invalidArgument('Trying to read from an invalid position.');
}

export function streamDeleted(stream: string): CallFailure {
  return failure(status.FAILED_PRECONDITION, `Event stream '${stream}' is deleted.`, {
    exception: 'stream-deleted',
    'stream-name': stream,
  });
}

export function appendTooLarge(maxBytes: number): CallFailure {
  return failure(status.INVALID_ARGUMENT, `Maximum Append Size of ${maxBytes} Exceeded.`, {
    exception: 'maximum-append-size-exceeded',
    'maximum-append-size': String(maxBytes),
  });
}

/** From 24.10.5 on. @param bytes of its data, its metadata and, twice, its type */
export function eventTooLarge(maxBytes: number, bytes = maxBytes + 1, id = '0'): CallFailure {
  const text = `Event with Id: ${id}, Size: ${bytes}, exceeds Maximum Append Event Size of ${maxBytes}.`;
  return failure(status.INVALID_ARGUMENT, text, {
    exception: 'maximum-append-event-size-exceeded',
    'maximum-append-event-size': String(maxBytes),
    'event-id': id,
    'proposed-append-event-size': String(bytes),
  });
}

export function accessDenied(): CallFailure {
  return failure(status.PERMISSION_DENIED, 'Access Denied', { exception: 'access-denied' });
}

/** What clients make of the server's 401. */
export function notAuthenticated(): CallFailure {
  return failure(status.UNAUTHENTICATED, 'Received HTTP status code 401');
}

export function metadataMissing(property: string): CallFailure {
  return failure(status.INVALID_ARGUMENT, `Required Metadata Property '${property}' is missing`, {
    exception: 'missing-required-metadata-property',
    'required-metadata-properties': 'type,content-type',
  });
}

/** A delete's; appends answer a conflict with a message. @param expected as the server numbers it: -1, -2, -4 are not revisions */
export function wrongExpectedVersion(stream: string, expected: bigint, actual: bigint): CallFailure {
  return failure(
    status.FAILED_PRECONDITION,
    `Delete failed due to WrongExpectedVersion. Stream: ${stream}, Expected version: ${expected}, Actual version: ${actual}`,
    {
      exception: 'wrong-expected-version',
      'stream-name': stream,
      'expected-version': String(expected),
      'actual-version': String(actual),
    },
  );
}

export function notReady(): CallFailure {
  return failure(status.UNAVAILABLE, 'Server Is Not Ready');
}

export function commitTimeout(): CallFailure {
  return failure(status.ABORTED, 'Operation timed out: Commit phase timeout.');
}

/** @param when what the subscription was doing */
export function consumerTooSlow(when: 'live' | 'transitioning to live'): CallFailure {
  return failure(
    status.ABORTED,
    `Operation timed out: Consumer too slow to handle event while ${when}. Client resubscription required.`,
  );
}

/** @param endpoint the leader */
export function notLeader(endpoint: { readonly host: string; readonly port: number }): CallFailure {
  return failure(status.NOT_FOUND, `Leader info available: ${endpoint.host}:${endpoint.port}`, {
    exception: 'not-leader',
    'leader-endpoint-host': endpoint.host,
    'leader-endpoint-port': String(endpoint.port),
  });
}
