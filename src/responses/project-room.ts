import type { ResponseRemoval } from './response-removal.ts';
import type { ResponseOutline, ResponseStore } from './response-store.ts';

/** By how much a project may exceed its quota until the oldest responses are removed. */
const excess = 1.1;
const oldestAtOnce = 16;
/** Maximum number of steps, which bounds what one call waits for. What is left is removed by the next ones. */
const maxSteps = 32;

export interface ProjectRoomOptions {
  readonly store: Pick<ResponseStore, 'bytesOf' | 'oldest' | 'markDeleted' | 'hasRoomFor'>;
  readonly removal: Pick<ResponseRemoval, 'step'>;
  readonly quotaBytes: number;
  /** Called for each response that is removed because of the quota. */
  readonly onRemoved: () => void;
}

interface RunningWrite {
  readonly projectId: string;
  readonly bytes: number;
  /** The response that it continues, which stays; null for none. */
  readonly previous: string | null;
}

/** Makes room in a project: its oldest responses give way to the newest. */
export class ProjectRoom {
  readonly #options: ProjectRoomOptions;
  readonly #writing = new Map<string, Set<RunningWrite>>();
  readonly #trimming = new Map<string, Promise<void>>();

  constructor(options: ProjectRoomOptions) {
    this.#options = options;
  }

  /** Runs a write. Call `trim` after it. @throws UnavailableError */
  async write<Outcome>(running: RunningWrite, work: () => Promise<Outcome>): Promise<Outcome | 'quota' | 'disk-full'> {
    if (!(await this.#options.store.hasRoomFor(running.bytes))) return 'disk-full';
    const { projectId } = running;
    const all = this.#writing.get(projectId) ?? new Set();
    this.#writing.set(projectId, all.add(running));
    try {
      return (await this.#hasRoom(projectId)) ? await work() : 'quota';
    } finally {
      all.delete(running);
      if (all.size === 0) this.#writing.delete(projectId);
    }
  }

  /**
   * Removes the oldest responses of a project beyond its quota, in small steps. Those that running writes continue
   * stay. A call that finds this running waits for it.
   * @param kept the id of one that stays, whatever its age: a conversation that continues
   * @throws UnavailableError
   */
  trim(projectId: string, kept: string | null): Promise<void> {
    const running = this.#trimming.get(projectId) ?? this.#trimInSteps(projectId, kept);
    this.#trimming.set(projectId, running);
    return running;
  }

  async #trimInSteps(projectId: string, kept: string | null): Promise<void> {
    try {
      for (let step = 0; step < maxSteps; step += 1) if (!(await this.#trimSome(projectId, kept))) return;
    } finally {
      this.#trimming.delete(projectId);
    }
  }

  async #hasRoom(projectId: string): Promise<boolean> {
    const { store, quotaBytes } = this.#options;
    // A write that begins later does not take the room of this one.
    const writing = this.#writesOf(projectId).reduce((sum, { bytes }) => sum + bytes, 0);
    const hasRoom = async () => (await store.bytesOf(projectId)) + writing <= quotaBytes * excess;
    if (await hasRoom()) return true;
    await this.trim(projectId, null);
    return hasRoom();
  }

  /** @returns whether the project may still be beyond its quota */
  async #trimSome(projectId: string, kept: string | null): Promise<boolean> {
    const { store, removal, quotaBytes, onRemoved } = this.#options;
    const over = (await store.bytesOf(projectId)) - quotaBytes;
    if (over <= 0) return false;
    if (await removal.step(projectId)) return true;
    const staying = new Set([kept, ...this.#writesOf(projectId).map(({ previous }) => previous)]);
    const oldest = await store.oldest(projectId, oldestAtOnce + staying.size);
    const ids = firstOf(
      oldest.filter(({ id }) => !staying.has(id)),
      over,
    );
    if (ids.length === 0) return false;
    await store.markDeleted(projectId, ids);
    for (const _ of ids) onRemoved();
    return true;
  }

  #writesOf(projectId: string): ReadonlyArray<RunningWrite> {
    return [...(this.#writing.get(projectId) ?? [])];
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
