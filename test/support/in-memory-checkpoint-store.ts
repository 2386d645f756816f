import { beginning, type Checkpoint, type CheckpointStore } from '#processes/checkpoint-store.ts';
import { Superseded } from '#src/superseded.ts';

interface Kept extends Checkpoint {
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

  async read(process: string): Promise<Checkpoint> {
    const checkpoint = await this.peek(process);
    await this.write(process, checkpoint);
    return checkpoint;
  }

  async peek(process: string): Promise<Checkpoint> {
    const { position, lastAppended } = this.#kept.get(process) ?? beginning;
    return { position, lastAppended };
  }

  async write(process: string, checkpoint: Checkpoint): Promise<void> {
    if ((this.#kept.get(process)?.fence ?? 0) > this.#fence) throw new Superseded(`Another node runs ${process}.`);
    this.#kept.set(process, { ...checkpoint, fence: this.#fence });
  }

  async close(): Promise<void> {}
}
