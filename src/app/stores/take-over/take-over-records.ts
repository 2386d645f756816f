import { RecordSnapshots, type StoredSnapshot } from '#application/streams/stream-snapshots.ts';
import type { EventFailure } from '#domain/shared/event-failure.ts';
import { type ProcessCheckpoint, type ProcessesRecord, processesRecordKey } from '#positions/position-poll.ts';
import { recordParts } from '#records/record-parts.ts';
import type { RecordKey, RecordStore } from '#records/record-store.ts';
import { type EncodedJson, encodeJson } from '#shared/json/encoded-json.ts';
import type { Json } from '#shared/json/json.ts';
import { followedKey } from '#webhooks/state/delivery-state.ts';

/** A checkpoint of release 0.3. */
export interface EarlierCheckpoint {
  readonly process: string;
  /** Null for a process that no release since 0.2 has run. */
  readonly log: string | null;
  readonly position: number;
  readonly lastAppended: number;
  readonly failure: EventFailure | null;
}

/** A delivery state of release 0.3. */
export interface EarlierDelivery {
  /** The endpoint's id; `-followed` for the followed position. */
  readonly endpoint: string;
  readonly log: string;
  /** JSON text. */
  readonly state: string;
}

/** What release 0.3 has stored in tables or collections of its own. */
export interface EarlierRecords {
  checkpoints(): Promise<ReadonlyArray<EarlierCheckpoint>>;
  deliveries(): Promise<ReadonlyArray<EarlierDelivery>>;
  /** The time of last use of each API key. */
  keyUsage(): Promise<ReadonlyMap<string, string>>;
  snapshots(): AsyncIterable<StoredSnapshot>;
  /** The notes of a shared read store, by name. */
  notes(): Promise<ReadonlyMap<string, EncodedJson>>;
}

/**
 * A part of what is taken over. `work` is what only the node that does the work may write: the checkpoints of processes
 * and the states of deliveries. It is copied when no node of the earlier release works any more.
 */
export type TakeOverPart = 'work' | 'rest';

/** Both parts, for a store that no other process uses. */
export const allParts: ReadonlyArray<TakeOverPart> = ['work', 'rest'];

/** The records that mark that nothing of a part is left to be taken over. */
const markKeys: Readonly<Record<TakeOverPart, RecordKey>> = {
  work: { kind: 'format', key: 'work-taken-over' },
  rest: { kind: 'format', key: 'taken-over' },
};

/** Returns the parts that were not taken over yet. @throws UnavailableError */
export async function partsToTakeOver(
  records: RecordStore,
  parts: ReadonlyArray<TakeOverPart>,
): Promise<ReadonlyArray<TakeOverPart>> {
  const left: TakeOverPart[] = [];
  for (const part of parts) {
    const { kind, key } = markKeys[part];
    if ((await records.get(kind, key)) === null) left.push(part);
  }
  return left;
}

/**
 * Copies a part of what release 0.3 has stored into the records. Existing records stay, so that it may be repeated after
 * a crash, and next to nodes that have done it. The copied data stays too, so that the operator can go back to that
 * release.
 * @throws UnavailableError
 */
export async function takeOverRecords(
  records: RecordStore,
  earlier: EarlierRecords,
  part: TakeOverPart,
): Promise<void> {
  await (part === 'work' ? takeOverWork : takeOverRest)(records, earlier);
  const { kind, key } = markKeys[part];
  await records.put(kind, new Map([[key, true]]));
}

async function takeOverWork(records: RecordStore, earlier: EarlierRecords): Promise<void> {
  const processes = processesRecordOf(await earlier.checkpoints());
  if (processes !== null) {
    const { kind, key } = processesRecordKey;
    await records.put(kind, new Map([[key, encodeJson(processes)]]), { keep: 'existing' });
  }
  const deliveries = new Map((await earlier.deliveries()).flatMap(deliveryEntry));
  for (const part of recordParts(deliveries)) await records.put('webhook-deliveries', part, { keep: 'existing' });
}

async function takeOverRest(records: RecordStore, earlier: EarlierRecords): Promise<void> {
  for (const part of recordParts(await earlier.keyUsage())) await records.put('key-usage', part, { keep: 'greater' });
  await records.put('notes', await earlier.notes(), { keep: 'existing' });
  await takeOverSnapshots(records, earlier.snapshots());
}

async function takeOverSnapshots(records: RecordStore, earlier: AsyncIterable<StoredSnapshot>): Promise<void> {
  const put: RecordStore['put'] = (kind, entries) => records.put(kind, entries, { keep: 'existing' });
  const snapshots = new RecordSnapshots({ encoded: records.encoded.bind(records), put });
  for await (const snapshot of earlier) await snapshots.save(snapshot);
}

/** Joins the checkpoints of the newest log; null without any. A process that is missing begins at the log's start. */
function processesRecordOf(checkpoints: ReadonlyArray<EarlierCheckpoint>): ProcessesRecord | null {
  const newest = checkpoints.filter(({ log }) => log !== null).toSorted((one, other) => other.position - one.position);
  const log = newest[0]?.log ?? null;
  if (log === null) return null;
  const ofLog = newest.filter((checkpoint) => checkpoint.log === log);
  return { log, token: 0, checkpoints: Object.fromEntries(ofLog.map(checkpointEntry)), effects: [] };
}

function checkpointEntry(earlier: EarlierCheckpoint): readonly [string, ProcessCheckpoint] {
  const { process, position, lastAppended, failure } = earlier;
  const hasStopped = failure !== null && failure.position > position;
  return [process, { position, lastAppended, failure: hasStopped ? failure : null, waitingFor: null }];
}

/** A state that is not JSON counts as lost. */
function deliveryEntry({ endpoint, log, state }: EarlierDelivery): ReadonlyArray<readonly [string, Json]> {
  try {
    return [[endpoint, { log, [endpoint === followedKey ? 'position' : 'state']: JSON.parse(state) }]];
  } catch {
    return [];
  }
}
