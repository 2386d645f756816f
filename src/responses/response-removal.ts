import { clock } from '#shared/clock.ts';
import type { ResponseStore } from './response-store.ts';

const maxProjectsAtOnce = 64;

export interface ResponseRemovalOptions {
  readonly store: Pick<ResponseStore, 'removeUnneeded' | 'projectsToClean'>;
  /** Called with responses that may not be there any more. */
  readonly onRemoved: (projectId: string, ids: ReadonlyArray<string>) => void;
}

/**
 * Removes the deleted responses that no other one needs, in small steps and project by project in turn. What it does not
 * reach, because the process ends or the store is unavailable, the store finds again by an index.
 */
export class ResponseRemoval {
  readonly #options: ResponseRemovalOptions;
  readonly #waiting = new Set<string>();
  #running: Promise<void> = Promise.resolve();
  #isRunning = false;
  #isClosed = false;

  constructor(options: ResponseRemovalOptions) {
    this.#options = options;
  }

  /** Begins the removal without waiting for it. */
  begin(projectId: string): void {
    this.#waiting.add(projectId);
    if (this.#isRunning || this.#isClosed) return;
    this.#isRunning = true;
    this.#running = this.#run();
  }

  /** Resolves when all that began has ended. */
  idle(): Promise<void> {
    return this.#running;
  }

  /** @returns false when nothing is left @throws UnavailableError */
  async step(projectId: string): Promise<boolean> {
    const ids = await this.#options.store.removeUnneeded(projectId);
    this.#options.onRemoved(projectId, ids);
    return ids.length > 0;
  }

  /** Removes for all projects. @throws UnavailableError */
  async removeAll(signal: AbortSignal): Promise<void> {
    for (;;) {
      const projects = await this.#options.store.projectsToClean(maxProjectsAtOnce);
      let hasRemoved = false;
      for (const project of projects) {
        if (signal.aborted) return;
        hasRemoved = (await this.step(project)) || hasRemoved;
        await clock.nextTurn();
      }
      if (!hasRemoved) return;
    }
  }

  /** Closes after the present step. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#waiting.clear();
    await this.#running;
  }

  async #run(): Promise<void> {
    try {
      for (const project of this.#waiting) {
        this.#waiting.delete(project);
        if (await this.step(project)) this.#waiting.add(project);
        await clock.nextTurn();
        if (this.#isClosed) break;
      }
    } catch {
      // The retention meets the same error, and reports it.
      this.#waiting.clear();
    } finally {
      this.#isRunning = false;
    }
  }
}
