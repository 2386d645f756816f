import { clock, type Timer } from '#shared/clock.ts';

export interface CallSlot {
  readonly release: () => void;
  /**
   * Releases the slot of a call that was refused for now. The project gets no slot for `afterMs`, or until one of its
   * calls ends, so that waiting lines cost nothing.
   */
  readonly refuse: (afterMs: number) => void;
}

interface Waiter {
  readonly give: (slot: CallSlot | null) => void;
}

/**
 * Limits the calls of batches that run at the same time on this node. Projects get slots in turn, and so do the batches
 * of a project. Between two slots the event loop has a turn, so that a live call waits for the start of one line at most.
 */
export class CallSlots {
  readonly calls: number;
  #free: number;
  /** The waiters by project and by batch, in the order in which they are served. */
  readonly #projects = new Map<string, Map<string, Waiter[]>>();
  /** The pauses of the projects whose calls were refused. */
  readonly #pauses = new Map<string, Timer>();
  #isGiving = false;

  constructor(calls: number) {
    this.calls = calls;
    this.#free = calls;
  }

  get taken(): number {
    return this.calls - this.#free;
  }

  get waiting(): number {
    let waiting = 0;
    for (const batches of this.#projects.values()) for (const waiters of batches.values()) waiting += waiters.length;
    return waiting;
  }

  /** @returns null if the signal aborts first */
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
    if (this.#isGiving || this.#free === 0 || this.#nextProject() === null) return;
    this.#isGiving = true;
    clock.setImmediate(() => {
      this.#isGiving = false;
      if (this.#free > 0) this.#giveNext();
      this.#giveSoon();
    });
  }

  #giveNext(): void {
    const projectId = this.#nextProject();
    const waiter = projectId === null ? null : this.#next(projectId);
    if (projectId === null || waiter === null) return;
    this.#free -= 1;
    waiter.give(this.#slotOf(projectId));
  }

  #slotOf(projectId: string): CallSlot {
    let isHeld = true;
    const giveBack = (after: () => void) => {
      if (!isHeld) return;
      isHeld = false;
      this.#free += 1;
      after();
      this.#giveSoon();
    };
    return {
      release: () => giveBack(() => this.#resume(projectId)),
      refuse: (afterMs) => giveBack(() => this.#pause(projectId, afterMs)),
    };
  }

  #pause(projectId: string, ms: number): void {
    this.#resume(projectId);
    const end = () => {
      this.#pauses.delete(projectId);
      this.#giveSoon();
    };
    this.#pauses.set(projectId, clock.setTimeout(end, ms).unref());
  }

  #resume(projectId: string): void {
    clock.clearTimeout(this.#pauses.get(projectId));
    this.#pauses.delete(projectId);
  }

  /** The next project; null if none waits that may call. */
  #nextProject(): string | null {
    for (const projectId of this.#projects.keys()) if (!this.#pauses.has(projectId)) return projectId;
    return null;
  }

  /** The next waiter. Moves its batch and the project to the end. */
  #next(projectId: string): Waiter | null {
    const batches = this.#projects.get(projectId);
    const [batch] = batches ?? [];
    if (batches === undefined || batch === undefined) return null;
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
