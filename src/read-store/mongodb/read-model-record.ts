import type { Long } from 'mongodb';
import type { CollectionGenerations, Generation } from '#read-store/read-store.ts';

/** The collection of the read models' records. */
export const readModelsName = 'readModels';

/**
 * What is known of one read model, in one document, so that each change of it is one atomic step: which generation
 * queries read, how far each has come, and the newest lease that has written.
 */
export interface ReadModelRecord<Position = Long> {
  /** The projection's name. */
  readonly _id: string;
  /** The newest fencing token seen: a writer with an older one is refused. */
  readonly fence: Position;
  /** The number of the generation that queries read. */
  readonly current: number | null;
  /** By `generationKey`. */
  readonly generations: Readonly<Record<string, GenerationRecord<Position>>>;
}

export interface GenerationRecord<Position = Long> {
  readonly version: number;
  /** JSON text. */
  readonly indexes: string;
  readonly begunAt: Position;
  readonly complete: boolean;
  readonly checkpoint: Position;
}

/** A generation's member in its record. */
export function generationKey(number: number): string {
  return `g${number}`;
}

/** The path of a generation in its record, for filters and updates. */
export function generationPath(number: number): string {
  return `generations.${generationKey(number)}`;
}

/** The generation that queries read; null when there is none. */
export function currentGeneration(record: ReadModelRecord<number> | null): Generation | null {
  return generationsOf(record).find(({ number }) => number === record?.current) ?? null;
}

/** What is stored about a read model. */
export function collectionGenerations(record: ReadModelRecord<number> | null): CollectionGenerations {
  return {
    current: currentGeneration(record),
    filling: generationsOf(record).find(({ number }) => number !== record?.current) ?? null,
  };
}

/** All generations of a read model, in the order they were begun. */
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
