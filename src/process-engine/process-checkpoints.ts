import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { eventFailureCodec } from '#domain/shared/event-failure.ts';
import type { RecordStore } from '#records/record-store.ts';
import { nullable } from '#shared/codecs/choice.ts';

const Checkpoint = t.readonly(
  t.type({
    position: t.number,
    lastAppended: t.number,
    failure: nullable(eventFailureCodec),
    waitingFor: nullable(t.string),
  }),
);

const Effect = t.readonly(t.type({ process: t.string, cause: t.number, appended: t.number }));

const StoredProcesses = t.type({
  log: t.string,
  token: t.number,
  checkpoints: t.record(t.string, Checkpoint),
  effects: t.readonlyArray(Effect),
});

/** How far a process has handled the log, and its state. */
export interface ProcessCheckpoint extends t.TypeOf<typeof Checkpoint> {}

/** An append of a process, and the position of the event that caused it. */
export interface ProcessEffect extends t.TypeOf<typeof Effect> {}

/** The one record of all checkpoints. */
export interface ProcessesRecord {
  /** The identity of the log (`src/event-store/log-identity.ts`). */
  readonly log: string;
  /** The fencing token of the term that wrote it. */
  readonly token: number;
  /** The checkpoints by the names of their processes. */
  readonly checkpoints: Readonly<Record<string, ProcessCheckpoint>>;
  /** The newest appends, the newest last. */
  readonly effects: ReadonlyArray<ProcessEffect>;
}

/** The checkpoint of a process that has handled no event. */
export const startOfLog: ProcessCheckpoint = { position: 0, lastAppended: 0, failure: null, waitingFor: null };

const key = 'checkpoints';

/** Stores the checkpoints of all processes in one record. A rebuild of read models does not touch it. */
export class ProcessCheckpoints {
  readonly #records: RecordStore;

  constructor(records: RecordStore) {
    this.#records = records;
  }

  /**
   * Begins a term: older terms cannot write any more.
   * @returns the checkpoints by process; none if the stored ones are of another log
   * @throws FencedError if a newer term has begun; UnavailableError
   */
  async take(token: number, log: string): Promise<ReadonlyMap<string, ProcessCheckpoint>> {
    await this.#records.take('processes', token);
    const record = await this.read();
    return new Map(record?.log === log ? Object.entries(record.checkpoints) : []);
  }

  /** Stores the record. @throws FencedError if a newer term has begun; UnavailableError */
  async save(token: number, { log, checkpoints, effects }: ProcessesRecord): Promise<void> {
    const value = StoredProcesses.encode({ log, token, checkpoints, effects });
    await this.#records.put('processes', new Map([[key, JSON.parse(JSON.stringify(value))]]), { fence: token });
  }

  /** Reads the record, whichever node writes it; null before the first one. @throws UnavailableError */
  async read(): Promise<ProcessesRecord | null> {
    const record = StoredProcesses.decode(await this.#records.get('processes', key));
    return E.isRight(record) ? record.right : null;
  }
}
