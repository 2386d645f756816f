import { decodeProcessesRecord, type ProcessesRecord, processesRecordKey } from '#positions/processes-record.ts';
import type { RecordStore } from '#records/record-store.ts';
import { encodeJson } from '#shared/json/encoded-json.ts';

/**
 * Stores how far the processes are, in one record. It is not in the read store, because a rebuild of read models must
 * not run a process again. If a crash loses the last writes, processes see some events again.
 */
export class ProcessCheckpoints {
  readonly #records: RecordStore;

  constructor(records: RecordStore) {
    this.#records = records;
  }

  /**
   * Takes the processes over: from now on the store refuses a node with an older token. The first `save` replaces a
   * record of another log.
   * @param log the identity of the log
   * @returns the stored record; null if there is none of this log
   * @throws UnavailableError; FencedError if another node runs the processes under a newer lease
   */
  async take(token: number, log: string): Promise<ProcessesRecord | null> {
    await this.#records.take(processesRecordKey.kind, token);
    const record = await this.read();
    return record?.log === log ? record : null;
  }

  /**
   * Stores the record in place of the earlier one.
   * @param token the token with which `take` was called
   * @throws UnavailableError; FencedError
   */
  save(token: number, { log, checkpoints, effects }: ProcessesRecord): Promise<void> {
    const { kind, key } = processesRecordKey;
    const record: ProcessesRecord = { log, token, checkpoints, effects };
    return this.#records.put(kind, new Map([[key, encodeJson(record)]]), { fence: token });
  }

  /**
   * Reads the record, for statuses and for nodes that do not run the processes; null if there is none.
   * @throws UnavailableError
   */
  async read(): Promise<ProcessesRecord | null> {
    const { kind, key } = processesRecordKey;
    return decodeProcessesRecord(await this.#records.get(kind, key));
  }
}
