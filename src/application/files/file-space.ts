import { diskFull } from '#application/operations/unexpected-error.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import type { ReadStore } from '#read-store/read-store.ts';

export interface FileSpaceOptions {
  readonly documents: Pick<ReadStore, 'get'>;
  /** Maximum size of a project's files. */
  readonly quotaBytes: number;
  /** True if the disk keeps its reserve with these additional bytes. */
  readonly hasRoomFor: (bytes: number) => Promise<boolean>;
}

/** Bytes that are stored between two checks of the disk. */
const bytesBetweenLooks = 8 * 1024 * 1024;

/**
 * Checks that there is room for files in the quota of their project and on the disk. Running uploads of this node count
 * immediately; stored files count as soon as the read model shows them.
 */
export class FileSpace {
  readonly #options: FileSpaceOptions;
  /** Bytes by project. */
  readonly #storing = new Map<string, number>();

  constructor(options: FileSpaceOptions) {
    this.#options = options;
  }

  /** The caller must release it. */
  reserve(projectId: string): SpaceReservation {
    return new SpaceReservation(this, projectId);
  }

  /** True if the disk keeps its reserve with these additional bytes, independent of the quota. */
  hasDiskRoomFor(bytes: number): Promise<boolean> {
    return this.#options.hasRoomFor(bytes);
  }

  /** Null if there is room for these additional bytes. */
  async shortageOf(projectId: string, bytes: number): Promise<Failure | null> {
    const { documents, quotaBytes, hasRoomFor } = this.#options;
    const stored = (await documents.get<{ readonly bytes: number }>('file-space', projectId))?.value.bytes ?? 0;
    const storing = this.#storing.get(projectId) ?? 0;
    if (stored + storing + bytes > quotaBytes) return quotaExceeded(quotaBytes, stored, storing);
    return (await hasRoomFor(bytes)) ? null : diskFull;
  }

  /** Counts bytes of running uploads; only for `SpaceReservation`. @param bytes more; less when negative */
  count(projectId: string, bytes: number): void {
    const storing = (this.#storing.get(projectId) ?? 0) + bytes;
    if (storing > 0) this.#storing.set(projectId, storing);
    else this.#storing.delete(projectId);
  }
}

export class SpaceReservation {
  readonly #space: FileSpace;
  readonly #projectId: string;
  #bytes = 0;
  #lookedAt = 0;

  /** Only `FileSpace` may call it. */
  constructor(space: FileSpace, projectId: string) {
    this.#space = space;
    this.#projectId = projectId;
  }

  /** Null if there is room for these additional bytes. Counts nothing. @throws UnavailableError */
  shortageOf(bytes: number): Promise<Failure | null> {
    return this.#space.shortageOf(this.#projectId, bytes);
  }

  /** Checks every few megabytes that there is still room. @returns why there is none; null if there is */
  async take(bytes: number): Promise<Failure | null> {
    this.#bytes += bytes;
    this.#space.count(this.#projectId, bytes);
    if (this.#bytes - this.#lookedAt < bytesBetweenLooks) return null;
    this.#lookedAt = this.#bytes;
    return this.shortageOf(0);
  }

  /** Ends the reservation: the file is now stored and counted elsewhere, or is removed. */
  release(): void {
    this.#space.count(this.#projectId, -this.#bytes);
    this.#bytes = 0;
  }
}

function quotaExceeded(quotaBytes: number, stored: number, storing: number): Failure {
  const running = storing === 0 ? '' : ` and its running uploads ${storing}`;
  const detail = `The files of a project may take ${quotaBytes} bytes; those of this one take ${stored}${running}. Delete files, or upload fewer at once.`;
  return failure('files-quota-exceeded', detail);
}
