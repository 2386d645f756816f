import type { CallPage, CallPageRequest, RecordedCalls } from '#application/queries/recorded-calls.ts';
import type { RecordedCall } from '#domain/usage/recorded-call.ts';

export interface LoggedCall {
  /** The id, which is unique among all calls. */
  readonly id: string;
  readonly projectId: string;
  readonly call: Omit<RecordedCall, 'callsRepresented'>;
}

/** What a removal needs of a stored call. */
export interface RemovableCall {
  readonly id: string;
  /** When the call began, in ms since 1970. */
  readonly at: number;
  readonly bytes: number;
}

/**
 * The records of calls, which clients can list. It is not a read model, so a rebuild does not remove them. One contract
 * suite (`test/contract/call-log.ts`) tests every adapter.
 */
export interface CallLog extends RecordedCalls {
  /** Adds calls. One whose id is stored already is ignored. @throws UnavailableError */
  add(calls: ReadonlyArray<LoggedCall>): Promise<void>;
  /** @throws UnavailableError */
  bytesByProject(): Promise<ReadonlyMap<string, number>>;
  /** The calls of a project, the oldest first. @throws UnavailableError */
  oldest(projectId: string, limit: number): Promise<ReadonlyArray<RemovableCall>>;
  /** Removes calls in one statement. @throws UnavailableError */
  remove(projectId: string, calls: ReadonlyArray<RemovableCall>): Promise<void>;
  /** Removes some calls that began before a time (RFC 3339). @returns whether more may be left @throws UnavailableError */
  removeBefore(time: string): Promise<boolean>;
  close(): Promise<void>;
}

export interface StoredCall {
  readonly id: string;
  readonly at: number;
  /** The call as JSON. */
  readonly body: string;
}

export function callOf({ body }: Pick<StoredCall, 'body'>): RecordedCall {
  return { ...JSON.parse(body), callsRepresented: 1 };
}

/** @param found one more than the limit, where more follow */
export function callPageOf(
  found: ReadonlyArray<StoredCall>,
  { limit, maxBytes }: Pick<CallPageRequest, 'limit' | 'maxBytes'>,
): CallPage {
  let count = 0;
  let bytes = 0;
  for (const { body } of found.slice(0, limit)) {
    bytes += body.length;
    if (count > 0 && bytes > maxBytes) break;
    count += 1;
  }
  const last = found[count - 1];
  return {
    calls: found.slice(0, count).map(callOf),
    next: count === found.length || last === undefined ? null : { order: last.at, id: last.id },
  };
}
