import type { EventFailure } from '#domain/shared/event-failure.ts';
import {
  type Checkpoint,
  type CheckpointStore,
  startOfLog,
  type WatchedCheckpoint,
  watchedCheckpoint,
} from '#process-engine/checkpoints/checkpoint-store.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';

interface Kept extends WatchedCheckpoint {
  readonly log: string;
  readonly fence: number;
}

/** Checkpoints in memory that the nodes of a test share. Each node uses a store with its own fencing token. */
export class InMemoryCheckpointStore implements CheckpointStore {
  readonly #kept: Map<string, Kept>;
  readonly #fence: number;

  constructor(fence = 0, kept = new Map<string, Kept>()) {
    this.#fence = fence;
    this.#kept = kept;
  }

  /** Returns a store of the same checkpoints with another fencing token. */
  under(fence: number): InMemoryCheckpointStore {
    return new InMemoryCheckpointStore(fence, this.#kept);
  }

  async read(process: string, log: string): Promise<Checkpoint> {
    const checkpoint = await this.peek(process, log);
    this.#refuseOthers(process, null);
    this.#kept.set(process, { ...checkpoint, log, fence: this.#fence });
    const { position, lastAppended } = checkpoint;
    return { position, lastAppended };
  }

  async peek(process: string, log: string): Promise<WatchedCheckpoint> {
    const kept = this.#kept.get(process);
    if (kept === undefined || kept.log !== log) return watchedCheckpoint(startOfLog, null);
    const { position, lastAppended, failure } = kept;
    return watchedCheckpoint({ position, lastAppended }, failure);
  }

  async write(process: string, log: string, checkpoint: Checkpoint): Promise<void> {
    this.#refuseOthers(process, log);
    const failure = this.#kept.get(process)?.failure ?? null;
    this.#kept.set(process, { ...checkpoint, failure, log, fence: this.#fence });
  }

  async writeFailure(process: string, log: string, failure: EventFailure | null): Promise<void> {
    this.#refuseOthers(process, log);
    const checkpoint = this.#kept.get(process) ?? startOfLog;
    this.#kept.set(process, { ...checkpoint, failure, log, fence: this.#fence });
  }

  async reset(process: string, log: string): Promise<void> {
    await this.write(process, log, startOfLog);
    await this.writeFailure(process, log, null);
  }

  async close(): Promise<void> {}

  /** @param log null for any */
  #refuseOthers(process: string, log: string | null): void {
    const kept = this.#kept.get(process);
    const isOthers = (kept?.fence ?? 0) > this.#fence || (log !== null && kept?.log !== log);
    if (isOthers) throw new FencedError(`Another node runs ${process}, or it is run on another log.`);
  }
}
