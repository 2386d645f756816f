import type { WaitOutcome } from '#projection-engine/progress/position-waiter.ts';
import { ProjectionWaiter } from '#projection-engine/progress/projection-waiter.ts';
import type { Following, ProjectionsProgress } from '#projection-engine/progress/projections-progress.ts';
import type { PositionsReader, PublishedPositions } from '#projection-engine/progress/published-positions.ts';
import type { ProjectionStatus, ReadStore } from '#read-store/read-store.ts';
import { delay } from '#shared/async/delay.ts';
import { OutageLog } from '#shared/logging/outage-log.ts';
import type { Log } from '#shared/logging/read-store-log.ts';
import type { ProjectionInfo } from './projector-messages.ts';

/** How often the store is looked at, and when the node that runs the projections is taken for dead; milliseconds. */
export interface PollLimits {
  /** While somebody waits. Default 10. */
  readonly busy: number;
  /** While nobody does, and after a failure. Default 500. */
  readonly idle: number;
  /** Of its silence; longer than another node takes to go on in its place. Default 4000. */
  readonly silence: number;
}

const defaultLimits: PollLimits = { busy: 10, idle: 500, silence: 4000 };

export interface PolledProjectionsOptions {
  /** The projections as this node knows them; the node that runs them may be of another release. */
  readonly facts: ReadonlyArray<ProjectionInfo>;
  readonly store: PositionsReader & Pick<ReadStore, 'status'>;
  /** Which node runs the projections under a lease's token; null when that is not known. @throws UnavailableError */
  readonly holder: (token: number) => Promise<string | null>;
  readonly log: Log;
  readonly limits?: Partial<PollLimits>;
}

/** The projections of a read store that nodes share, as any node sees them: by what their runner tells in the store. */
export interface PolledProjections extends ProjectionsProgress {
  /** Ends the looking, and every wait. */
  close(): Promise<void>;
}

/** Begins to look. @returns once it has looked, or could not */
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
  /** Ends a pause between two looks. */
  #hurry = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #told: PublishedPositions | null = null;
  /** When, by this node's own clock, something new was told. */
  #toldAt = Number.NEGATIVE_INFINITY;
  /** More than one thing was told while this node looked: the first may have been told by one that is long dead. */
  #alive = false;
  #holder: string | null = null;
  #answers = false;
  #statuses: ReadonlyArray<ProjectionStatus> = [];
  #statusText = '';
  #statusAt = Number.NEGATIVE_INFINITY;

  constructor(options: PolledProjectionsOptions) {
    this.#options = options;
    this.#waits.learn(options.facts);
    this.#limits = { ...defaultLimits, ...options.limits };
    this.#outage = new OutageLog(options.log, 'What the runner of the projections tells');
  }

  async start(): Promise<void> {
    await this.#look();
    this.#running = this.#run();
  }

  waitFor(position: number, types: ReadonlyArray<string>, timeoutMilliseconds: number): Promise<WaitOutcome> {
    return this.#hurried(this.#waits.forTypes(types, position, timeoutMilliseconds));
  }

  waitForProjections(
    names: ReadonlyArray<string>,
    position: number,
    timeoutMilliseconds: number,
  ): Promise<WaitOutcome> {
    return this.#hurried(this.#waits.forNames(names, position, timeoutMilliseconds));
  }

  status(): ReadonlyArray<ProjectionStatus> {
    const told = new Map(this.#told?.projections.map((one) => [one.name, one.position] as const));
    return this.#statuses.map((status) => ({ ...status, position: told.get(status.name) ?? status.position }));
  }

  onStatus(listener: (statuses: ReadonlyArray<ProjectionStatus>) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  following(): Following {
    if (!this.#answers) return { live: false, detail: 'the read store does not answer' };
    if (this.#told === null) return { live: false, detail: 'no node has run them yet' };
    const { token, ready } = this.#told;
    const by = `${this.#holder === null ? '' : `on ${this.#holder}, `}token ${token}`;
    if (this.#isSilent() || !this.#alive) return { live: false, detail: `no sign of life (last ${by})` };
    return ready ? { live: true, detail: `live ${by}` } : { live: false, detail: `catching up ${by}` };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#hurry.abort();
    await this.#running;
    this.#waits.close();
  }

  /** Looks at once and often where somebody has to wait. */
  #hurried(outcome: Promise<WaitOutcome>): Promise<WaitOutcome> {
    if (this.#waits.waiting) this.#hurry.abort();
    return outcome;
  }

  async #run(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      if (this.#waits.waiting) {
        await delay(this.#limits.busy, this.#closing.signal);
      } else {
        this.#hurry = new AbortController();
        await delay(this.#limits.idle, this.#hurry.signal);
      }
      if (!this.#closing.signal.aborted) await this.#look();
    }
  }

  async #look(): Promise<void> {
    try {
      const told = await this.#options.store.positions();
      if (told !== null) await this.#hear(told);
      if (performance.now() - this.#statusAt >= this.#limits.idle) await this.#readStatus();
      this.#answers = true;
      this.#outage.succeeded();
    } catch (error) {
      this.#answers = false;
      this.#outage.failed(error);
      // Nobody is helped by asking a store that is down a hundred times a second.
      await delay(this.#limits.idle, this.#closing.signal);
    }
  }

  async #hear(told: PublishedPositions): Promise<void> {
    const before = this.#told;
    this.#told = told;
    if (told.token !== before?.token || told.beat !== before.beat) {
      this.#toldAt = performance.now();
      this.#alive = before !== null;
    }
    if (told.token !== before?.token || told.ready !== before.ready) this.#statusAt = Number.NEGATIVE_INFINITY;
    const byName = new Map(told.projections.map((one) => [one.name, one] as const));
    // Nobody follows the log while the runner is dead: a command must not wait for what will not come.
    this.#waits.update(this.#isSilent() ? [] : this.#options.facts.map(({ name }) => byName.get(name)));
    if (told.token !== before?.token) this.#holder = null;
    this.#holder ??= await this.#options.holder(told.token);
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
    return performance.now() - this.#toldAt > this.#limits.silence;
  }
}
