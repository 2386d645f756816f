import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { nothingRead, ReadOfLog } from '#domain/shared/log-mark.ts';
import type { RecordKey, RecordStore } from '#records/record-store.ts';
import { encodeJson, type Json } from '#shared/json/json.ts';
import type { Checkpoints, ProjectionPositions, PublishedPositions } from './published-positions.ts';
import type { OperatorState, ProjectionStatus } from './read-store.ts';

const kind = 'notes';

/** The key of the record, for a poll that reads it together with other records. */
export const positionsRecordKey: RecordKey = { kind, key: 'positions' };

const PublishedRecord = t.type({
  ready: t.boolean,
  projections: t.readonlyArray(t.type({ name: t.string, position: t.number, live: t.boolean, generation: t.number })),
  checkpoints: t.record(t.string, t.record(t.string, t.number)),
  beat: t.number,
  token: t.number,
  statusChanges: t.number,
  read: ReadOfLog,
});

/**
 * The notes of a read store that nodes share, as records: the projections' positions, their status, and the requests of
 * operators. An embedded read store has its notes in its own file, so that they are stored and lost together with the
 * documents.
 */
export class ReadStoreNotes {
  readonly #records: RecordStore;
  readonly #fence: number;
  #beat = 0;

  /** @param fence of the lease under which this node writes. Default 0, for a single writer and for readers */
  constructor(records: RecordStore, fence = 0) {
    this.#records = records;
    this.#fence = fence;
  }

  async status(): Promise<ReadonlyArray<ProjectionStatus>> {
    const status = await this.#records.encoded(kind, 'status');
    return (status?.parse() ?? []) as ReadonlyArray<ProjectionStatus>;
  }

  async operatorState(): Promise<OperatorState> {
    const state = await this.#records.encoded(kind, 'operator-state');
    return state === null ? { position: 0, skipped: {} } : (state.parse() as OperatorState);
  }

  /** The published positions; null when no node has published yet. @throws UnavailableError */
  async positions(): Promise<PublishedPositions | null> {
    return decodePublishedPositions(await this.#records.get(kind, positionsRecordKey.key));
  }

  async checkpoints(): Promise<Checkpoints> {
    const record = PublishedRecord.decode(await this.#records.get(kind, positionsRecordKey.key));
    return E.isRight(record) ? record.right.checkpoints : {};
  }

  /** What was read of the log up to the checkpoints. @throws UnavailableError */
  async readOfLog(): Promise<ReadOfLog> {
    return (await this.positions())?.read ?? nothingRead;
  }

  /** Refuses every writer with an older token from now on. @throws UnavailableError; FencedError */
  takeOver(): Promise<void> {
    return this.#records.take(kind, this.#fence);
  }

  /** @throws UnavailableError; FencedError */
  saveStatus(statuses: ReadonlyArray<ProjectionStatus>): Promise<void> {
    return this.#save('status', statuses);
  }

  /** @throws UnavailableError; FencedError */
  saveOperatorState(state: OperatorState): Promise<void> {
    return this.#save('operator-state', state);
  }

  /** Saves the positions in one record, with all checkpoints. @throws UnavailableError; FencedError */
  savePositions(positions: ProjectionPositions, checkpoints: Checkpoints): Promise<void> {
    this.#beat += 1;
    const published: PublishedPositions = { ...positions, beat: this.#beat, token: this.#fence };
    return this.#save(positionsRecordKey.key, { ...published, checkpoints });
  }

  #save(key: string, body: object): Promise<void> {
    return this.#records.put(kind, new Map([[key, encodeJson(body)]]), { fence: this.#fence });
  }
}

export function decodePublishedPositions(value: Json): PublishedPositions | null {
  const record = PublishedRecord.decode(value);
  if (E.isLeft(record)) return null;
  const { checkpoints: _, ...published } = record.right;
  return published;
}
