/** A slot for one call. */
export interface CallSlot {
  readonly release: () => void;
}

interface Waiter {
  readonly give: (slot: CallSlot | null) => void;
}

/**
 * Limits the calls of batches that run at once on this node. Projects get slots in turn, and so do the batches of a
 * project. Between two slots the event loop has a turn, so that a live call waits for the start of one line at most.
 */
export class CallSlots {
  #free: number;
  /** The waiters by project and by batch, in the order of their turns. */
  readonly #projects = new Map<string, Map<string, Waiter[]>>();
  #isGiving = false;

  /** @param calls the most calls at once */
  constructor(calls: number) {
    this.#free = calls;
  }

  /** Waits for a slot. @returns null if the signal aborts first */
  acquire(projectId: string, batchId: string, signal: AbortSignal): Promise<CallSlot | null> {
    if (signal.aborted) return Promise.resolve(null);
    return new Promise((resolve) => {
      const waiter: Waiter = {
        give: (slot) => {
          signal.removeEventListener('abort', leave);
          resolve(slot);
        },
      };
      const leave = () => {
        this.#remove(projectId, batchId, waiter);
        waiter.give(null);
      };
      signal.addEventListener('abort', leave, { once: true });
      const batches = this.#projects.get(projectId) ?? new Map<string, Waiter[]>();
      this.#projects.set(projectId, batches);
      const waiting = batches.get(batchId) ?? [];
      batches.set(batchId, waiting);
      waiting.push(waiter);
      this.#giveSoon();
    });
  }

  #giveSoon(): void {
    if (this.#isGiving || this.#free === 0 || this.#projects.size === 0) return;
    this.#isGiving = true;
    setImmediate(() => {
      this.#isGiving = false;
      const waiter = this.#free > 0 ? this.#next() : null;
      if (waiter !== null) {
        this.#free -= 1;
        waiter.give(this.#slot());
      }
      this.#giveSoon();
    });
  }

  #slot(): CallSlot {
    let isHeld = true;
    return {
      release: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#free += 1;
        this.#giveSoon();
      },
    };
  }

  /** Returns the next waiter, and moves its batch and its project to the end. */
  #next(): Waiter | null {
    const [project] = this.#projects;
    if (project === undefined) return null;
    const [projectId, batches] = project;
    const [batch] = batches;
    if (batch === undefined) return null;
    const [batchId, waiting] = batch;
    const waiter = waiting.shift() ?? null;
    batches.delete(batchId);
    if (waiting.length > 0) batches.set(batchId, waiting);
    this.#projects.delete(projectId);
    if (batches.size > 0) this.#projects.set(projectId, batches);
    return waiter;
  }

  #remove(projectId: string, batchId: string, waiter: Waiter): void {
    const batches = this.#projects.get(projectId);
    const waiting = batches?.get(batchId)?.filter((each) => each !== waiter) ?? [];
    if (waiting.length > 0) batches?.set(batchId, waiting);
    else batches?.delete(batchId);
    if (batches?.size === 0) this.#projects.delete(projectId);
  }
}
