import { identityOfLog } from '#event-store/log-identity.ts';
import type { LogTail } from '#event-store/log-tail.ts';
import { decodeProcessesRecord, type PositionSource, processesRecordKey } from '#positions/position-poll.ts';
import { decodePublishedPositions, positionsRecordKey } from '#read-store/notes.ts';
import type { RecordStore } from '#records/record-store.ts';

/** How long the first poll waits for the identity of the log, so that callers wait for processes from the start. */
const firstIdentityTimeoutMs = 1_000;
/** How long one attempt to read the identity of the log lasts. */
const identityTimeoutMs = 5_000;

/** Reads the published positions of the projections and the record of the processes, in one command. */
export function polledPositions(records: Pick<RecordStore, 'read'>, tail: Pick<LogTail, 'firstEvent'>): PositionSource {
  let log: string | null = null;
  let isFirst = true;
  let isAsking = false;
  const askIdentity = async () => {
    isAsking = true;
    log = await identityOfLog(tail, AbortSignal.timeout(identityTimeoutMs));
    isAsking = false;
  };
  return {
    poll: async () => {
      if (isFirst) {
        isFirst = false;
        log = await identityOfLog(tail, AbortSignal.timeout(firstIdentityTimeoutMs), false);
      }
      // The log may be empty for long, and the poll must not wait.
      if (log === null && !isAsking) void askIdentity();
      const [published = null, stored = null] = await records.read([positionsRecordKey, processesRecordKey]);
      const processes = decodeProcessesRecord(stored);
      return {
        published: decodePublishedPositions(published),
        // The positions of another log mean nothing here.
        processes: processes?.log === log ? processes : null,
      };
    },
  };
}
