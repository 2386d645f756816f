import type { Long } from 'mongodb';
import type { CollectionGenerations, Generation } from '#read-store/read-store.ts';

/** The collection of the read models' records. */
export const readModelsName = 'readModels';

/**
 * The state of one read model, in one document, so that each change is atomic: the generation that queries read, the
 * checkpoint of each generation, and the newest lease that has written.
 */
export interface ReadModelRecord<Position = Long> {
  /** The projection's name. */
  readonly _id: string;
  /** The newest known fencing token. A writer with an older one is refused. */
  readonly fence: Position;
  /** The number of the generation that queries read. */
  readonly current: number | null;
  /** By `generationKey`. */
  readonly generations: Readonly<Record<string, GenerationRecord<Position>>>;
}

/** A generation in the record of its read model. */
export interface GenerationRecord<Position = Long> {
  readonly version: number;
  /** JSON text. */
  readonly indexes: string;
  readonly begunAt: Position;
  readonly complete: boolean;
  readonly checkpoint: Position;
}

/** A generation's member in its record. */
function generationKey(number: number): string {
  return `g${number}`;
}

/** The path of a generation in its record, for filters and updates. */
export function generationPath(number: number): string {
  return `generations.${generationKey(number)}`;
}

/** Returns the generation that queries read; null if there is none. */
export function currentGeneration(record: ReadModelRecord<number> | null): Generation | null {
  return generationsOf(record).find(({ number }) => number === record?.current) ?? null;
}

/** Returns the generations of a read model: the current one, and the one that is being filled. */
export function collectionGenerations(record: ReadModelRecord<number> | null): CollectionGenerations {
  return {
    current: currentGeneration(record),
    filling: generationsOf(record).find(({ number }) => number !== record?.current) ?? null,
  };
}

/** Returns all generations of a read model, in the order in which they were begun. */
export function generationsOf(record: ReadModelRecord<number> | null): ReadonlyArray<Generation> {
  if (record === null) return [];
  return Object.entries(record.generations)
    .map(([key, generation]) => ({
      name: record._id,
      version: generation.version,
      indexes: JSON.parse(generation.indexes),
      number: Number(key.slice(1)),
      begunAt: generation.begunAt,
      complete: generation.complete,
      checkpoint: generation.checkpoint,
    }))
    .sort((one, other) => one.number - other.number);
}
