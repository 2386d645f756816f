import { diskFull } from '#application/operations/disk-full.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import type { ReadStore } from '#read-store/read-store.ts';

export interface FileSpaceOptions {
  readonly documents: Pick<ReadStore, 'get'>;
  /** Bytes that the files of a project may take. */
  readonly quotaBytes: number;
  /** Whether the disk keeps its reserve with so many bytes more. */
  readonly hasRoomFor: (bytes: number) => Promise<boolean>;
}

/** Bytes that are stored between two looks at the disk. */
const bytesBetweenLooks = 8 * 1024 * 1024;

/**
 * Judges whether there is room for files: in the quota of their project, and on the disk. What this node is storing now
 * counts at once, what was stored counts as the read model knows it.
 */
export class FileSpace {
  readonly #options: FileSpaceOptions;
  /** By project, the bytes that this node is storing. */
  readonly #storing = new Map<string, number>();

  constructor(options: FileSpaceOptions) {
    this.#options = options;
  }

  /** Begins to store something of a project. It must be released in the end. */
  hold(projectId: string): SpaceHold {
    return new SpaceHold(this, projectId);
  }

  /** Whether the disk keeps its reserve with so many bytes more, whatever the quota says. */
  hasDiskRoomFor(bytes: number): Promise<boolean> {
    return this.#options.hasRoomFor(bytes);
  }

  /** Why there is no room for so many bytes beside what is stored; null where there is. */
  async shortageOf(projectId: string, bytes: number): Promise<Failure | null> {
    const { documents, quotaBytes, hasRoomFor } = this.#options;
    const stored = (await documents.get<{ readonly bytes: number }>('file-space', projectId))?.value.bytes ?? 0;
    if (stored + (this.#storing.get(projectId) ?? 0) + bytes > quotaBytes) return quotaExceeded(quotaBytes, stored);
    return (await hasRoomFor(bytes)) ? null : diskFull;
  }

  /** For `SpaceHold` alone. @param bytes more; less when negative */
  count(projectId: string, bytes: number): void {
    const storing = (this.#storing.get(projectId) ?? 0) + bytes;
    if (storing > 0) this.#storing.set(projectId, storing);
    else this.#storing.delete(projectId);
  }
}

/** The room that one upload takes while it is stored. */
export class SpaceHold {
  readonly #space: FileSpace;
  readonly #projectId: string;
  #bytes = 0;
  #lookedAt = 0;

  /** For `FileSpace` alone. */
  constructor(space: FileSpace, projectId: string) {
    this.#space = space;
    this.#projectId = projectId;
  }

  /** Why there is no room for so many bytes more; null where there is. Counts nothing. @throws UnavailableError */
  shortageOf(bytes: number): Promise<Failure | null> {
    return this.#space.shortageOf(this.#projectId, bytes);
  }

  /** Counts bytes, and looks every few megabytes whether there still is room. @returns why not; null where there is */
  async take(bytes: number): Promise<Failure | null> {
    this.#bytes += bytes;
    this.#space.count(this.#projectId, bytes);
    if (this.#bytes - this.#lookedAt < bytesBetweenLooks) return null;
    this.#lookedAt = this.#bytes;
    return this.shortageOf(0);
  }

  /** What was taken is stored and counted elsewhere, or is gone. */
  release(): void {
    this.#space.count(this.#projectId, -this.#bytes);
    this.#bytes = 0;
  }
}

function quotaExceeded(quotaBytes: number, stored: number): Failure {
  const detail = `The files of a project may take ${quotaBytes} bytes; those of this one take ${stored}. Delete some that are not needed any more.`;
  return failure('files-quota-exceeded', detail);
}
