import type { ReadOfLog } from '#domain/shared/log-mark.ts';
import { identityOfLog } from '#event-store/log-identity.ts';
import type { LogTail } from '#event-store/log-tail.ts';
import { decodeProcessesRecord, type PositionSource, processesRecordKey } from '#positions/position-poll.ts';
import { decodePublishedPositions, positionsRecordKey } from '#read-store/notes.ts';
import type { RecordStore } from '#records/record-store.ts';
import { abortAfter } from '#shared/async/timed-waits.ts';

/** Time limit of the first poll for the identity of the log, so that callers wait for processes from the start. */
const firstIdentityTimeoutMs = 1_000;
/** Time limit of one attempt to compare the log. Events that it lacks may still come. */
const comparisonTimeoutMs = 1_000;
/** Time limit of one attempt to read the identity of the log. */
const identityTimeoutMs = 5_000;

/** Reads the positions of the projections and the record of the processes in one command. */
export function polledPositions(
  records: Pick<RecordStore, 'read'>,
  tail: Pick<LogTail, 'firstEvent' | 'compare'>,
): PositionSource {
  const [publishedOfLog, processesOfLog] = [onlyOfLog(tail), onlyOfLog(tail)];
  let log: string | null = null;
  let isFirst = true;
  let isAsking = false;
  const askIdentity = async () => {
    isAsking = true;
    log = await identityOfLog(tail, abortAfter(identityTimeoutMs));
    isAsking = false;
  };
  return {
    poll: async () => {
      if (isFirst) {
        isFirst = false;
        log = await identityOfLog(tail, abortAfter(firstIdentityTimeoutMs), false);
      }
      // The log may be empty for long, and the poll must not wait.
      if (log === null && !isAsking) void askIdentity();
      const [published = null, stored = null] = await records.read([positionsRecordKey, processesRecordKey]);
      const processes = decodeProcessesRecord(stored);
      return {
        published: await publishedOfLog(decodePublishedPositions(published)),
        // The positions of another log mean nothing here.
        processes: await processesOfLog(processes?.log === log ? processes : null),
      };
    },
  };
}

/** A record that a node stores during its term. */
interface RecordOfTerm {
  readonly token: number;
  readonly read: ReadOfLog;
}

/**
 * Leaves out what a node has stored of events that the log no longer has. It is compared once for each term, because a
 * node that notices a change of the log begins another one.
 */
function onlyOfLog(tail: Pick<LogTail, 'compare'>) {
  let compared: { readonly token: number; readonly isOfLog: boolean } | null = null;
  return async <Stored extends RecordOfTerm>(record: Stored | null): Promise<Stored | null> => {
    if (record === null) return null;
    if (compared?.token !== record.token) {
      const found = await tail.compare(record.read, abortAfter(comparisonTimeoutMs));
      if (found === null) return null;
      compared = { token: record.token, isOfLog: found.lost === null };
    }
    return compared.isOfLog ? record : null;
  };
}
