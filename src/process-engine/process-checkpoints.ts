import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { type EventFailure, eventFailureCodec } from '#domain/shared/event-failure.ts';
import type { RecordKey, RecordStore } from '#records/record-store.ts';
import { nullable } from '#shared/codecs/choice.ts';
import { encodeJson } from '#shared/json/encoded-json.ts';
import type { Json } from '#shared/json/json.ts';

/** How far a process has read the log. */
export interface ProcessCheckpoint {
  /** The position up to which it has handled every event; 0 at first. */
  readonly position: number;
  /** The position of the last event that the process itself has appended; 0 without one. */
  readonly lastAppended: number;
  /** The event at which it has stopped; null while it runs. */
  readonly failure: EventFailure | null;
  /** What it waits for, such as a read model; null if it waits for nothing. */
  readonly waitingFor: string | null;
}

/** The checkpoint of a process that has handled no event. */
export const startOfLog: ProcessCheckpoint = { position: 0, lastAppended: 0, failure: null, waitingFor: null };

/** An append of a process, by the position of the event to which it reacted. */
export interface ProcessEffect {
  readonly process: string;
  readonly cause: number;
  /** The position of the last event that it appended because of the cause. */
  readonly appended: number;
}

/** The record of all processes. */
export interface ProcessesRecord {
  /** The log of the positions (`src/event-store/log-identity.ts`). */
  readonly log: string;
  /** The fencing token of the lease under which it was written. */
  readonly token: number;
  /** By the process's name. */
  readonly checkpoints: Readonly<Record<string, ProcessCheckpoint>>;
  /** The newest appends of processes. */
  readonly effects: ReadonlyArray<ProcessEffect>;
}

/** The place of the record, for a poll that reads it together with others. */
export const processesRecordKey: RecordKey = { kind: 'processes', key: 'all' };

const Record = t.type({
  log: t.string,
  token: t.number,
  checkpoints: t.record(
    t.string,
    t.type({
      position: t.number,
      lastAppended: t.number,
      failure: nullable(eventFailureCodec),
      waitingFor: nullable(t.string),
    }),
  ),
  effects: t.readonlyArray(t.type({ process: t.string, cause: t.number, appended: t.number })),
});

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
   * @returns the stored checkpoints by process; empty if they are of another log
   * @throws UnavailableError; FencedError if another node runs the processes under a newer lease
   */
  async take(token: number, log: string): Promise<ReadonlyMap<string, ProcessCheckpoint>> {
    await this.#records.take(processesRecordKey.kind, token);
    const record = await this.read();
    return new Map(record?.log === log ? Object.entries(record.checkpoints) : []);
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

/** Reads the record from its value; null if there is none, or if this release cannot read it. */
export function decodeProcessesRecord(value: Json): ProcessesRecord | null {
  const record = Record.decode(value);
  return E.isRight(record) ? record.right : null;
}
