import { beginning, type Checkpoint, type CheckpointStore } from '#processes/checkpoint-store.ts';
import { Superseded } from '#src/superseded.ts';

interface Kept extends Checkpoint {
  readonly log: string;
  readonly fence: number;
}

/** Checkpoints in memory, which nodes of one test share: each through a store with its own fencing token. */
export class InMemoryCheckpointStore implements CheckpointStore {
  readonly #kept: Map<string, Kept>;
  readonly #fence: number;

  constructor(fence = 0, kept = new Map<string, Kept>()) {
    this.#fence = fence;
    this.#kept = kept;
  }

  /** The same checkpoints under another token. */
  under(fence: number): InMemoryCheckpointStore {
    return new InMemoryCheckpointStore(fence, this.#kept);
  }

  async read(process: string, log: string): Promise<Checkpoint> {
    const checkpoint = await this.peek(process, log);
    this.#refuseOthers(process, null);
    this.#kept.set(process, { ...checkpoint, log, fence: this.#fence });
    return checkpoint;
  }

  async peek(process: string, log: string): Promise<Checkpoint> {
    const kept = this.#kept.get(process);
    if (kept === undefined || kept.log !== log) return beginning;
    return { position: kept.position, lastAppended: kept.lastAppended };
  }

  async write(process: string, log: string, checkpoint: Checkpoint): Promise<void> {
    this.#refuseOthers(process, log);
    this.#kept.set(process, { ...checkpoint, log, fence: this.#fence });
  }

  async reset(process: string, log: string): Promise<void> {
    await this.write(process, log, beginning);
  }

  async close(): Promise<void> {}

  /** @param log null for any */
  #refuseOthers(process: string, log: string | null): void {
    const kept = this.#kept.get(process);
    const isOthers = (kept?.fence ?? 0) > this.#fence || (log !== null && kept?.log !== log);
    if (isOthers) throw new Superseded(`Another node runs ${process}, or it is run on another log.`);
  }
}
