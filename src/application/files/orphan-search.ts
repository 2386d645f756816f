import type { ListedBlob } from '#blob-store/blob-store.ts';
import type { BatchEvents } from '#domain/batch/events.ts';
import type { FileEvents } from '#domain/file/events.ts';

type BlobEvents = FileEvents & BatchEvents;

export interface SeenEvent {
  readonly type: string;
  readonly data: unknown;
}

export type OrphanReason = 'never named' | 'released';

export interface Orphan extends ListedBlob {
  readonly reason: OrphanReason;
}

/** The blob is needed from now on, or no longer. */
type Effect =
  | { readonly names: string; readonly partOf?: string }
  | { readonly releases: string }
  | { readonly releasesPartsOf: string };

/** Every event type of files and batches. If a type that names a blob were missing, its content would be lost. */
const effects: { readonly [Type in keyof BlobEvents]: ((data: BlobEvents[Type]) => Effect) | null } = {
  FileCreated: ({ blobId }) => ({ names: blobId }),
  FileDeleted: ({ blobId }) => ({ releases: blobId }),
  FileHeld: null,
  FileReleased: null,
  // A batch only reads its input, which is a file's.
  BatchCreated: null,
  BatchTaken: null,
  BatchChecked: null,
  BatchLinesCompleted: ({ id, blobId }) => ({ names: blobId, partOf: id }),
  BatchCancelRequested: null,
  BatchFinalizing: null,
  BatchEnded: ({ id }) => ({ releasesPartsOf: id }),
};

export function concernsBlobs(type: string): boolean {
  return Object.hasOwn(effects, type) && effects[type as keyof BlobEvents] !== null;
}

/** Finds blobs that nothing uses, from all events of the log in order. */
export class OrphanSearch {
  readonly #candidates: ReadonlyMap<string, ListedBlob>;
  readonly #reasons = new Map<string, OrphanReason>();
  /** The named candidates of each batch. */
  readonly #parts = new Map<string, string[]>();
  #named = 0;

  /** @param candidates the blobs to check */
  constructor(candidates: Iterable<ListedBlob>) {
    this.#candidates = new Map(Array.from(candidates, (blob) => [blob.id, blob]));
    for (const id of this.#candidates.keys()) this.#reasons.set(id, 'never named');
  }

  get size(): number {
    return this.#candidates.size;
  }

  /** The number of candidates that an event named, even if a later event released them. */
  get named(): number {
    return this.#named;
  }

  /** Takes events in the log's order, with data in its type's newest shape. */
  add({ type, data }: SeenEvent): void {
    if (!concernsBlobs(type)) return;
    const effectOf = effects[type as keyof BlobEvents] as (data: unknown) => Effect;
    const effect = effectOf(data);
    if ('names' in effect) this.#name(effect.names, effect.partOf);
    else if ('releases' in effect) this.#release(effect.releases);
    else this.#releasePartsOf(effect.releasesPartsOf);
  }

  /** True if no file or batch uses the blob, by all events so far. */
  isOrphan(id: string): boolean {
    return this.#reasons.has(id);
  }

  /** The unused blobs, by all events so far. */
  orphans(): ReadonlyArray<Orphan> {
    return [...this.#candidates.values()].flatMap((blob) => {
      const reason = this.#reasons.get(blob.id);
      return reason === undefined ? [] : [{ ...blob, reason }];
    });
  }

  #name(id: string, batchId: string | undefined): void {
    if (!this.#candidates.has(id)) return;
    if (this.#reasons.get(id) === 'never named') this.#named += 1;
    this.#reasons.delete(id);
    if (batchId === undefined) return;
    const parts = this.#parts.get(batchId) ?? [];
    parts.push(id);
    this.#parts.set(batchId, parts);
  }

  #release(id: string): void {
    if (this.#candidates.has(id)) this.#reasons.set(id, 'released');
  }

  #releasePartsOf(batchId: string): void {
    for (const id of this.#parts.get(batchId) ?? []) this.#release(id);
    this.#parts.delete(batchId);
  }
}
