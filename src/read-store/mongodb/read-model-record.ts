import type { Long } from 'mongodb';
import type { CollectionGenerations, Generation } from '#read-store/read-store.ts';

export const readModelsName = 'readModelGenerations';

/**
 * The generations of one read model, in one document, so that each change is atomic. It changes only when a generation
 * is begun, published or dropped, and when another node takes over. The checkpoints of all generations are in the record
 * of positions (`ReadStoreNotes`), because they change with each commit.
 */
export interface ReadModelRecord<Position = Long> {
  /** The projection's name. */
  readonly _id: string;
  /** The newest known token. A writer with an older one is refused. */
  readonly fence: Position;
  /** The number of the newest generation that was begun. */
  readonly last: number;
  /** The generation that queries read. */
  readonly current: number | null;
  /** The generations by `g` and their number. */
  readonly generations: Readonly<Record<string, GenerationRecord<Position>>>;
}

export interface GenerationRecord<Position = Long> {
  readonly version: number;
  /** The indexes as JSON text. */
  readonly indexes: string;
  readonly begunAt: Position;
  readonly complete: boolean;
  /** If true, it gets no more events, and stays for a while, because queries of other nodes may still read it. */
  readonly replaced: boolean;
}

/** Checkpoints by the generation's number. */
export type GenerationCheckpoints = Readonly<Record<string, number>>;

export function generationPath(number: number): string {
  return `generations.g${number}`;
}

/** The current generation without its checkpoint. */
export function currentGeneration(record: ReadModelRecord<number> | null): Generation | null {
  return collectionGenerations(record, {}).current;
}

/** The current generation, and the one that is being filled. */
export function collectionGenerations(
  record: ReadModelRecord<number> | null,
  checkpoints: GenerationCheckpoints,
): CollectionGenerations {
  const stored = generationsOf(record, checkpoints);
  const current = stored.find(({ number }) => number === record?.current);
  const filling = stored.find(({ number, replaced }) => number !== record?.current && !replaced);
  return { current: withoutMark(current), filling: withoutMark(filling) };
}

export interface StoredGeneration extends Generation {
  readonly replaced: boolean;
}

/** The generations in the order in which they were begun. */
export function generationsOf(
  record: ReadModelRecord<number> | null,
  checkpoints: GenerationCheckpoints,
): ReadonlyArray<StoredGeneration> {
  if (record === null) return [];
  return Object.entries(record.generations)
    .map(([key, generation]) => {
      const number = Number(key.slice(1));
      return {
        name: record._id,
        version: generation.version,
        indexes: JSON.parse(generation.indexes),
        number,
        begunAt: generation.begunAt,
        complete: generation.complete,
        replaced: generation.replaced,
        checkpoint: checkpoints[number] ?? 0,
      };
    })
    .sort((one, other) => one.number - other.number);
}

function withoutMark(stored: StoredGeneration | undefined): Generation | null {
  if (stored === undefined) return null;
  const { replaced: _, ...generation } = stored;
  return generation;
}
