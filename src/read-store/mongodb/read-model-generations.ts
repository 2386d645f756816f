import { Long, MongoServerError } from 'mongodb';
import type { MongoDbConnection } from '#mongodb/mongodb-connection.ts';
import { repeatCall } from '#mongodb/reconnecting-client.ts';
import type { ReadStoreNotes } from '#read-store/notes.ts';
import type { Checkpoints, ProjectionPositions } from '#read-store/published-positions.ts';
import type { CollectionDefinition, CollectionGenerations, Generation } from '#read-store/read-store.ts';
import { clock } from '#shared/clock.ts';
import { forgetAfterMs } from './document-writes.ts';
import type { FencedRecords } from './fenced-records.ts';
import {
  collectionGenerations,
  generationPath,
  generationsOf,
  type ReadModelRecord,
  type StoredGeneration,
} from './read-model-record.ts';
import { documentsName, holdsDocuments, indexDescriptions } from './stored-document.ts';

/**
 * How long the writer relies on the last check that no other node has taken over: for this time, or for this multiple of
 * the time of the check, because a term lasts as long on a slow store. Even a late write to documents does no harm.
 */
const leaseTrustedMs = 1000;
const trustedChecks = 3;
const maxLeaseTrustedMs = 10_000;
/**
 * How long a replaced generation stays after the publication, or after a takeover. A node that knows nothing of the
 * publication for a third of this time asks which generation is current (`MongoDbReadStore`).
 */
const keepReplacedMs = 60_000;
const namespaceNotFound = 26;

export interface GenerationProgress {
  readonly generation: Pick<Generation, 'name' | 'number'>;
  /** The position up to which its documents are stored. */
  storedUpTo: number;
  forgetAt: number;
}

interface ReplacedGeneration {
  readonly generation: Pick<Generation, 'name' | 'number'>;
  readonly dropAt: number;
}

interface GenerationStores {
  readonly connection: MongoDbConnection;
  readonly notes: ReadStoreNotes;
  readonly records: FencedRecords;
  readonly signal: AbortSignal | undefined;
  /** How long a replaced generation is kept. Default 60,000. */
  readonly keepReplacedMs: number | undefined;
}

/** Manages generations from their beginning to their drop. */
export class ReadModelGenerations {
  readonly #connection: MongoDbConnection;
  readonly #notes: ReadStoreNotes;
  readonly #records: FencedRecords;
  readonly #signal: AbortSignal | undefined;
  readonly #keepReplacedMs: number;
  /** The progress of generations by the names of their documents. */
  readonly #tracking = new Map<string, GenerationProgress>();
  readonly #replaced = new Map<string, ReplacedGeneration>();
  /** The checkpoints of read models whose generations this writer has not read yet. */
  #inherited: Checkpoints = {};
  #opening: Promise<void> | null = null;
  /** The records that were taken over together, until the first `generations` of each. */
  #takenOver: Promise<Map<string, ReadModelRecord<number>>> | null = null;
  /** When the last check found that no other node has taken over. */
  #heldAt = Number.NEGATIVE_INFINITY;
  #trustedMs = leaseTrustedMs;

  constructor({ connection, notes, records, signal, keepReplacedMs: keptMs = keepReplacedMs }: GenerationStores) {
    this.#connection = connection;
    this.#notes = notes;
    this.#records = records;
    this.#signal = signal;
    this.#keepReplacedMs = keptMs;
  }

  /** Takes a collection over. From now on a writer with an older token is refused. @throws FencedError */
  async takeOver(collection: string): Promise<CollectionGenerations> {
    const [record] = await Promise.all([this.#takeOverRecord(collection), this.open()]);
    this.#track(collection, generationsOf(record, this.#inherited[collection] ?? {}));
    return collectionGenerations(record, this.#checkpoints()[collection] ?? {});
  }

  async begin({ name, version, indexes }: CollectionDefinition, begunAt: number): Promise<Generation> {
    await this.open();
    await this.#records.add(name);
    const record = await this.#records.takeOver(name);
    const before = generationsOf(record, {});
    const number = (record?.last ?? 0) + 1;
    const dropped = before.filter(({ complete }) => !complete);
    await this.#records.change(name, {
      $set: {
        last: number,
        ...(dropped.length === before.length ? { current: number } : {}),
        [generationPath(number)]: {
          version,
          indexes: JSON.stringify(indexes),
          begunAt: Long.fromNumber(begunAt),
          complete: false,
          replaced: false,
        },
      },
      ...unset(dropped),
    });
    const generation = { name, version, indexes, number, begunAt, complete: false, checkpoint: 0 };
    // The collection follows its record. A collection without a record is a leftover and is dropped.
    await this.finish(generation);
    for (const one of dropped) await this.#drop(one);
    const forgetAt = clock.now() + forgetAfterMs;
    this.#tracking.set(documentsName(generation), { generation, storedUpTo: 0, forgetAt });
    return generation;
  }

  async finish(generation: Generation): Promise<void> {
    // One by one: FerretDB drops the connection when several of the requested indexes exist already.
    for (const { key } of indexDescriptions(generation.indexes)) {
      await this.#connection.call((database) => database.collection(documentsName(generation)).createIndex(key));
    }
  }

  async publish(generation: Generation): Promise<void> {
    const { name, number } = generation;
    const stored = generationsOf(await this.#records.get(name), {});
    const before = stored.filter((one) => one.number < number && !one.replaced);
    const marks = before.map((one) => [`${generationPath(one.number)}.replaced`, true] as const);
    const published = { current: number, [`${generationPath(number)}.complete`]: true };
    await this.#records.change(name, { $set: { ...published, ...Object.fromEntries(marks) } }, number);
    for (const one of before) this.#dropLater(one);
  }

  async dropOthers(collections: ReadonlyArray<string>): Promise<void> {
    // The takeover, which the next call waits for, begins meanwhile.
    const [taken] = await Promise.all([this.#allTakenOver(), this.open(), this.#dropOthers(collections)]);
    for (const name of taken.keys()) if (!collections.includes(name)) taken.delete(name);
  }

  async savePositions(positions: ProjectionPositions): Promise<void> {
    await this.open();
    for (const { name, generation: number, position } of positions.projections) {
      const tracking = this.#tracking.get(documentsName({ name, number }));
      if (tracking !== undefined) tracking.storedUpTo = Math.max(tracking.storedUpTo, position);
    }
    await this.#repeat(async () => {
      const sentAt = clock.now();
      await this.#notes.savePositions(positions, this.#checkpoints());
      this.#isHeldAt(sentAt);
    });
    await this.#dropReplaced();
  }

  /** After this, no older writer can change the checkpoints. */
  open(): Promise<void> {
    this.#opening ??= this.#inherit().catch((error: unknown) => {
      this.#opening = null;
      throw error;
    });
    return this.#opening;
  }

  /** @throws FencedError if the generation was dropped */
  async progressOf(generation: Generation): Promise<GenerationProgress> {
    const known = this.#tracking.get(documentsName(generation));
    if (known !== undefined) return known;
    await this.#repeat(() => this.#assertExists(generation));
    return this.#trackingOf(generation);
  }

  /** @throws FencedError if another node has taken over, or if the generation was dropped */
  async assertHeld(generation: Generation): Promise<void> {
    if (clock.now() - this.#heldAt >= this.#trustedMs) await this.#assertExists(generation);
  }

  async #inherit(): Promise<void> {
    await this.#notes.takeOver();
    this.#inherited = await this.#notes.checkpoints();
  }

  /** Takes a record over. The first call takes all over together, because a takeover needs every one. */
  async #takeOverRecord(name: string): Promise<ReadModelRecord<number> | null> {
    const all = await this.#allTakenOver();
    const record = all.get(name);
    if (record === undefined) return this.#records.takeOver(name);
    all.delete(name);
    return record;
  }

  #allTakenOver(): Promise<Map<string, ReadModelRecord<number>>> {
    this.#takenOver ??= this.#takeOverAll();
    return this.#takenOver;
  }

  async #takeOverAll(): Promise<Map<string, ReadModelRecord<number>>> {
    const askedAt = clock.now();
    try {
      const records = await this.#records.takeOverAll();
      this.#isHeldAt(askedAt);
      return new Map(records.map((record) => [record._id, record]));
    } catch (error) {
      this.#takenOver = null;
      throw error;
    }
  }

  #track(name: string, stored: ReadonlyArray<StoredGeneration>): void {
    const existing = new Set(stored.map(documentsName));
    for (const [key, { generation }] of this.#tracking)
      if (generation.name === name && !existing.has(key)) this.#tracking.delete(key);
    for (const one of stored) {
      const tracking = this.#trackingOf(one);
      tracking.storedUpTo = Math.max(tracking.storedUpTo, one.checkpoint);
      if (one.replaced && !this.#replaced.has(documentsName(one))) this.#dropLater(one);
    }
    const { [name]: _, ...others } = this.#inherited;
    this.#inherited = others;
  }

  async #dropOthers(collections: ReadonlyArray<string>): Promise<void> {
    // The collections are listed before the records are read, because a generation's record exists before its
    // collection.
    const [stored] = await Promise.all([this.#connection.collectionNames(), this.#records.removeOthers(collections)]);
    const records = await this.#records.all();
    const known = new Set(records.flatMap((record) => generationsOf(record, {})).map(documentsName));
    for (const name of stored) if (holdsDocuments(name) && !known.has(name)) await this.#dropCollection(name);
  }

  /** @throws FencedError if another node has taken over, or if the generation was dropped */
  async #assertExists({ name, number }: Generation): Promise<void> {
    const askedAt = clock.now();
    const stored = generationsOf(await this.#records.read(name), {});
    if (!stored.some((one) => one.number === number)) throw this.#records.superseded(name);
    this.#isHeldAt(askedAt);
  }

  /** Notes a check that has just found that no other node had taken over. */
  #isHeldAt(askedAt: number): void {
    this.#heldAt = askedAt;
    const checkMs = clock.now() - askedAt;
    this.#trustedMs = Math.min(maxLeaseTrustedMs, Math.max(leaseTrustedMs, trustedChecks * checkMs));
  }

  #checkpoints(): Checkpoints {
    const checkpoints: Record<string, Record<string, number>> = { ...this.#inherited };
    for (const { generation, storedUpTo } of this.#tracking.values())
      checkpoints[generation.name] = { ...checkpoints[generation.name], [generation.number]: storedUpTo };
    return checkpoints;
  }

  #dropLater(generation: Pick<Generation, 'name' | 'number'>): void {
    this.#replaced.set(documentsName(generation), { generation, dropAt: clock.now() + this.#keepReplacedMs });
  }

  /** Drops replaced generations one at a time, so that positions do not wait long. */
  async #dropReplaced(): Promise<void> {
    const now = clock.now();
    const due = [...this.#replaced].find(([, { dropAt }]) => dropAt <= now);
    if (due === undefined) return;
    const [key, { generation }] = due;
    await this.#records.change(generation.name, unset([generation]));
    await this.#drop(generation);
    this.#replaced.delete(key);
  }

  async #drop(generation: Pick<Generation, 'name' | 'number'>): Promise<void> {
    this.#tracking.delete(documentsName(generation));
    await this.#dropCollection(documentsName(generation));
  }

  async #dropCollection(collection: string): Promise<void> {
    await this.#connection.call(async (database) => {
      try {
        await database.dropCollection(collection);
      } catch (error) {
        // Servers before 7.0 answer so if the collection does not exist.
        if (!(error instanceof MongoServerError && error.code === namespaceNotFound)) throw error;
      }
    });
  }

  #trackingOf(generation: Pick<Generation, 'name' | 'number'>): GenerationProgress {
    const key = documentsName(generation);
    const known = this.#tracking.get(key);
    if (known !== undefined) return known;
    const tracking = { generation, storedUpTo: 0, forgetAt: 0 };
    this.#tracking.set(key, tracking);
    return tracking;
  }

  #repeat<Result>(call: () => Promise<Result>): Promise<Result> {
    return repeatCall(call, this.#signal);
  }
}

function unset(generations: ReadonlyArray<Pick<Generation, 'number'>>): Readonly<Record<string, object>> {
  if (generations.length === 0) return {};
  return { $unset: Object.fromEntries(generations.map(({ number }) => [generationPath(number), ''] as const)) };
}
