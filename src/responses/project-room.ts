import type { ResponseRemoval } from './response-removal.ts';
import type { ResponseOutline, ResponseStore } from './response-store.ts';

/** By how much a project may exceed its quota until the oldest responses are removed. */
const excess = 1.1;
const oldestAtOnce = 16;
/** Bounds what one call waits for. What is left is removed by the next ones. */
const maxSteps = 32;

export interface ProjectRoomOptions {
  readonly store: Pick<ResponseStore, 'bytesOf' | 'oldest' | 'markDeleted' | 'hasRoomFor'>;
  readonly removal: Pick<ResponseRemoval, 'step'>;
  /** Maximum bytes of the stored responses of one project. */
  readonly quotaBytes: number;
  /** Called for each response that is removed because of the quota. */
  readonly onRemoved: () => void;
}

/** Keeps the quota of each project where responses are written: the oldest give way to the newest. */
export class ProjectRoom {
  readonly #options: ProjectRoomOptions;
  /** The bytes that are being written, by project. */
  readonly #writing = new Map<string, number>();
  /** The projects whose oldest responses are being removed. */
  readonly #trimmed = new Set<string>();

  constructor(options: ProjectRoomOptions) {
    this.#options = options;
  }

  /**
   * Writes a response if there is room for it. Call `trim` after it.
   * @param previous the response that it continues, which stays; null for none
   * @throws UnavailableError
   */
  async write<Outcome>(
    {
      projectId,
      bytes,
      previous,
    }: { readonly projectId: string; readonly bytes: number; readonly previous: string | null },
    work: () => Promise<Outcome>,
  ): Promise<Outcome | 'quota' | 'disk-full'> {
    if (!(await this.#options.store.hasRoomFor(bytes))) return 'disk-full';
    const writing = this.#count(projectId, bytes);
    try {
      return (await this.#hasRoom(projectId, { writing, previous })) ? await work() : 'quota';
    } finally {
      this.#count(projectId, -bytes);
    }
  }

  /**
   * Removes the oldest responses of a project beyond its quota, in small steps.
   * @param kept the id of one that stays, whatever its age: a conversation that is going on
   * @throws UnavailableError
   */
  async trim(projectId: string, kept: string | null): Promise<void> {
    if (this.#trimmed.has(projectId)) return;
    this.#trimmed.add(projectId);
    try {
      for (let step = 0; step < maxSteps; step += 1) if (!(await this.#trimSome(projectId, kept))) return;
    } finally {
      this.#trimmed.delete(projectId);
    }
  }

  /** @param writing the bytes that are being written, those of this write among them */
  async #hasRoom(
    projectId: string,
    { writing, previous }: { readonly writing: number; readonly previous: string | null },
  ): Promise<boolean> {
    const { store, quotaBytes } = this.#options;
    const hasRoom = async () => (await store.bytesOf(projectId)) + writing <= quotaBytes * excess;
    if (await hasRoom()) return true;
    await this.trim(projectId, previous);
    return hasRoom();
  }

  /** @returns whether the project may be beyond its quota still */
  async #trimSome(projectId: string, kept: string | null): Promise<boolean> {
    const { store, removal, quotaBytes, onRemoved } = this.#options;
    const over = (await store.bytesOf(projectId)) - quotaBytes;
    if (over <= 0) return false;
    if (await removal.step(projectId)) return true;
    const oldest = (await store.oldest(projectId, oldestAtOnce)).filter(({ id }) => id !== kept);
    const ids = firstOf(oldest, over);
    if (ids.length === 0) return false;
    await store.markDeleted(projectId, ids);
    for (const _ of ids) onRemoved();
    return true;
  }

  /** @returns all that is being written in the project */
  #count(projectId: string, bytes: number): number {
    const sum = (this.#writing.get(projectId) ?? 0) + bytes;
    if (sum === 0) this.#writing.delete(projectId);
    else this.#writing.set(projectId, sum);
    return sum;
  }
}

/** The ids of the first responses that have some bytes together. */
function firstOf(responses: ReadonlyArray<ResponseOutline>, wantedBytes: number): ReadonlyArray<string> {
  let bytes = 0;
  const enough = responses.findIndex((each) => {
    bytes += each.bytes;
    return bytes >= wantedBytes;
  });
  return responses.slice(0, enough < 0 ? responses.length : enough + 1).map(({ id }) => id);
}
