import type { WaitOutcome } from '#projection-engine/progress/position-waiter.ts';
import { ProjectionWaiter } from '#projection-engine/progress/projection-waiter.ts';
import type { FollowingStatus, ProjectionsProgress } from '#projection-engine/progress/projections-progress.ts';
import type { PositionsReader, PublishedPositions } from '#read-store/published-positions.ts';
import type { ProjectionStatus, ReadStore } from '#read-store/read-store.ts';
import { delay } from '#shared/async/delay.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { OutageLog } from '#shared/logging/outage-log.ts';
import type { ProjectionInfo } from './projector-messages.ts';

/** How often the store is polled, and when the node that runs the projections counts as dead; in milliseconds. */
export interface PollLimits {
  /** The interval while a caller waits. Default 10. */
  readonly busy: number;
  /** The interval while no caller waits, and after a failure. Default 500. */
  readonly idle: number;
  /** The time without a publication; longer than a takeover by another node takes. Default 4000. */
  readonly silence: number;
}

const defaultLimits: PollLimits = { busy: 10, idle: 500, silence: 4000 };

export interface PolledProjectionsOptions {
  /** The projections that this node knows. The node that runs them may have another release. */
  readonly facts: ReadonlyArray<ProjectionInfo>;
  readonly store: PositionsReader & Pick<ReadStore, 'status'>;
  /** Which node runs the projections under a lease's token; null when that is not known. @throws UnavailableError */
  readonly holder: (token: number) => Promise<string | null>;
  readonly log: Logger;
  readonly limits?: Partial<PollLimits>;
}

/** The projections of a shared read store for any node. It reads what the node that runs them publishes there. */
export interface PolledProjections extends ProjectionsProgress {
  /** Stops polling and ends every wait. */
  close(): Promise<void>;
}

/** Starts polling. @returns after the first poll, whether or not it has succeeded */
export async function startPolledProjections(options: PolledProjectionsOptions): Promise<PolledProjections> {
  const projections = new Poller(options);
  await projections.start();
  return projections;
}

class Poller implements PolledProjections {
  readonly #options: PolledProjectionsOptions;
  readonly #waits = new ProjectionWaiter();
  readonly #listeners = new Set<(statuses: ReadonlyArray<ProjectionStatus>) => void>();
  readonly #closing = new AbortController();
  readonly #outage: OutageLog;
  readonly #limits: PollLimits;
  /** Ends the pause between two polls. */
  #wake = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #published: PublishedPositions | null = null;
  /** The time of the last new publication, on this node's clock. */
  #heardAt = Number.NEGATIVE_INFINITY;
  /** Whether a second publication was seen. The first one may come from a node that is long dead. */
  #alive = false;
  #holder: string | null = null;
  #answers = false;
  #statuses: ReadonlyArray<ProjectionStatus> = [];
  #statusText = '';
  #statusAt = Number.NEGATIVE_INFINITY;

  constructor(options: PolledProjectionsOptions) {
    this.#options = options;
    this.#waits.setProjections(options.facts);
    this.#limits = { ...defaultLimits, ...options.limits };
    this.#outage = new OutageLog(options.log, 'The published positions of the projections');
  }

  async start(): Promise<void> {
    await this.#poll();
    this.#running = this.#run();
  }

  waitFor(position: number, types: ReadonlyArray<string>, timeoutMs: number): Promise<WaitOutcome> {
    return this.#wakeWhileWaiting(this.#waits.forTypes(types, position, timeoutMs));
  }

  waitForProjections(names: ReadonlyArray<string>, position: number, timeoutMs: number): Promise<WaitOutcome> {
    return this.#wakeWhileWaiting(this.#waits.forNames(names, position, timeoutMs));
  }

  status(): ReadonlyArray<ProjectionStatus> {
    const published = new Map(this.#published?.projections.map((one) => [one.name, one.position] as const));
    return this.#statuses.map((status) => ({ ...status, position: published.get(status.name) ?? status.position }));
  }

  onStatus(listener: (statuses: ReadonlyArray<ProjectionStatus>) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  following(): FollowingStatus {
    if (!this.#answers) return { live: false, detail: 'the read store does not answer' };
    if (this.#published === null) return { live: false, detail: 'no node has run them yet' };
    const { token, ready } = this.#published;
    const by = `${this.#holder === null ? '' : `on ${this.#holder}, `}token ${token}`;
    if (this.#isSilent() || !this.#alive) return { live: false, detail: `no sign of life (last ${by})` };
    return ready ? { live: true, detail: `live ${by}` } : { live: false, detail: `catching up ${by}` };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#wake.abort();
    await this.#running;
    this.#waits.close();
  }

  /** Polls at once and often while a caller has to wait. */
  #wakeWhileWaiting(outcome: Promise<WaitOutcome>): Promise<WaitOutcome> {
    if (this.#waits.waiting) this.#wake.abort();
    return outcome;
  }

  async #run(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      if (this.#waits.waiting) {
        await delay(this.#limits.busy, this.#closing.signal);
      } else {
        this.#wake = new AbortController();
        await delay(this.#limits.idle, this.#wake.signal);
      }
      if (!this.#closing.signal.aborted) await this.#poll();
    }
  }

  async #poll(): Promise<void> {
    try {
      const published = await this.#options.store.positions();
      if (published !== null) await this.#apply(published);
      if (performance.now() - this.#statusAt >= this.#limits.idle) await this.#readStatus();
      this.#answers = true;
      this.#outage.succeeded();
    } catch (error) {
      this.#answers = false;
      this.#outage.failed(error);
      // To poll a store that is down a hundred times a second helps no caller.
      await delay(this.#limits.idle, this.#closing.signal);
    }
  }

  async #apply(published: PublishedPositions): Promise<void> {
    const before = this.#published;
    this.#published = published;
    if (published.token !== before?.token || published.beat !== before.beat) {
      this.#heardAt = performance.now();
      this.#alive = before !== null;
    }
    if (published.token !== before?.token || published.ready !== before.ready)
      this.#statusAt = Number.NEGATIVE_INFINITY;
    const byName = new Map(published.projections.map((one) => [one.name, one] as const));
    // No node follows the log while the runner is dead, so a command must not wait for its read models.
    this.#waits.update(this.#isSilent() ? [] : this.#options.facts.map(({ name }) => byName.get(name)));
    if (published.token !== before?.token) this.#holder = null;
    this.#holder ??= await this.#options.holder(published.token);
  }

  async #readStatus(): Promise<void> {
    const statuses = await this.#options.store.status();
    this.#statusAt = performance.now();
    this.#statuses = statuses;
    const text = JSON.stringify(statuses.map((status) => ({ ...status, position: 0 })));
    if (text === this.#statusText) return;
    this.#statusText = text;
    for (const listener of this.#listeners) listener(this.status());
  }

  #isSilent(): boolean {
    return performance.now() - this.#heardAt > this.#limits.silence;
  }
}
