import type { CallPage, CallPageRequest, RecordedCalls } from '#application/queries/recorded-calls.ts';
import type { RecordedCall } from '#domain/usage/recorded-call.ts';
import type { PageKey } from '#read-store/read-store.ts';
import type { CallOutline, Thinning } from './thinning.ts';

/** A call, as the log stores it. */
export interface LoggedCall {
  /** Unique among all calls. */
  readonly id: string;
  readonly projectId: string;
  readonly call: RecordedCall;
}

/**
 * Stores the records of calls, so that clients can list them. It is not a read model, so a rebuild does not remove
 * them. One contract suite (`test/contract/call-log.ts`) tests every adapter.
 */
export interface CallLog extends RecordedCalls {
  /** Stores calls. A call whose id is stored already is ignored. @throws UnavailableError */
  add(calls: ReadonlyArray<LoggedCall>): Promise<void>;
  /** The stored bytes of each project. @throws UnavailableError */
  bytesByProject(): Promise<ReadonlyMap<string, number>>;
  /** Reads some outlines of a project's calls, oldest first. @throws UnavailableError */
  outlines(projectId: string, limit: number, after: PageKey | null): Promise<ReadonlyArray<CallOutline>>;
  /** Removes calls of a project, and changes how many calls others represent. @throws UnavailableError */
  thin(projectId: string, thinning: Thinning): Promise<void>;
  /** Removes some calls that began before a time (RFC 3339). @returns whether more may be left @throws UnavailableError */
  removeBefore(time: string): Promise<boolean>;
  close(): Promise<void>;
}

/** Returns the place of a call in its project's list. */
export function placeOfCall({ id, at }: Pick<CallOutline, 'id' | 'at'>): PageKey {
  return { order: at, id };
}

/** A call, as an adapter reads it. */
export interface StoredCall {
  readonly id: string;
  readonly at: number;
  /** JSON of the call, without the number of calls that it represents. */
  readonly body: string;
  readonly callsRepresented: number;
}

/** Parses a stored call. */
export function callOf({ body, callsRepresented }: Pick<StoredCall, 'body' | 'callsRepresented'>): RecordedCall {
  return { ...JSON.parse(body), callsRepresented };
}

/** Makes a page of stored calls. @param found one more than the limit, where more follow */
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
    next: count === found.length || last === undefined ? null : placeOfCall(last),
  };
}
