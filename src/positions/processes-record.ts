import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { type EventFailure, eventFailureCodec } from '#domain/shared/event-failure.ts';
import type { RecordKey } from '#records/record-store.ts';
import { nullable } from '#shared/codecs/choice.ts';
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

/** Reads the record from its value; null without one, or if this release cannot read it. */
export function decodeProcessesRecord(value: Json): ProcessesRecord | null {
  const record = Record.decode(value);
  return E.isRight(record) ? record.right : null;
}
