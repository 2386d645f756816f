import { PositionPoll, type PositionPollOptions } from '#positions/position-poll.ts';
import type { FollowerInfo, PositionSink } from '#positions/positions.ts';
import type { FollowingStatus, ProjectionsProgress } from '#projection-engine/progress/projections-progress.ts';
import type { PublishedPositions } from '#read-store/published-positions.ts';
import type { ProjectionStatus, ReadStore } from '#read-store/read-store.ts';

export interface PolledProjectionsOptions extends Omit<PositionPollOptions, 'onPoll'> {
  /** The projections of this node. The node that runs them may have another release. */
  readonly projections: ReadonlyArray<FollowerInfo>;
  readonly store: Pick<ReadStore, 'status'>;
  /** The node that runs the projections under a lease's token; null when it is not known. @throws UnavailableError */
  readonly holder: (token: number) => Promise<string | null>;
}

/** Serves any node: reads what the node that runs the projections publishes in the shared read store. */
export class PolledProjections implements ProjectionsProgress {
  readonly #options: PolledProjectionsOptions;
  readonly #poll: PositionPoll;
  readonly #listeners = new Set<(statuses: ReadonlyArray<ProjectionStatus>) => void>();
  #published: PublishedPositions | null = null;
  #holder: string | null = null;
  #isAskingHolder = false;
  #statuses: ReadonlyArray<ProjectionStatus> = [];
  #statusText = '';
  #statusOf: string | null = null;

  constructor(options: PolledProjectionsOptions) {
    this.#options = options;
    options.positions.declare('projection', options.projections);
    this.#poll = new PositionPoll({ ...options, onPoll: (published) => this.#look(published) });
  }

  /** Receives positions of the projections and processes that run on this node. */
  get sink(): PositionSink {
    return this.#poll;
  }

  /** Returns after the first poll, whether or not it has succeeded. */
  start(): Promise<void> {
    return this.#poll.start();
  }

  status(): ReadonlyArray<ProjectionStatus> {
    const published = new Map(this.#published?.projections.map((one) => [one.name, one.position] as const));
    return this.#statuses.map((status) => ({ ...status, position: published.get(status.name) ?? status.position }));
  }

  onStatus(listener: (statuses: ReadonlyArray<ProjectionStatus>) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** When the last answered poll was sent, on this process's clock. */
  get polledAt(): number {
    return this.#poll.answeredAt;
  }

  following(): FollowingStatus {
    if (!this.#poll.answers) return { live: false, detail: 'the read store does not answer' };
    if (this.#published === null) return { live: false, detail: 'no node has run them yet' };
    const { token, ready } = this.#published;
    const by = `${this.#holder === null ? '' : `on ${this.#holder}, `}token ${token}`;
    if (!this.#poll.isAlive) return { live: false, detail: `no sign of life (last ${by})` };
    return ready ? { live: true, detail: `live ${by}` } : { live: false, detail: `catching up ${by}` };
  }

  close(): Promise<void> {
    return this.#poll.close();
  }

  async #look(published: PublishedPositions | null): Promise<void> {
    const before = this.#published;
    this.#published = published;
    if (published !== null && published.token !== before?.token) this.#holder = null;
    if (published !== null && this.#holder === null) this.#askHolder(published.token);
    const statusOf = published === null ? '' : `${published.token}/${published.statusChanges}`;
    if (statusOf === this.#statusOf) return;
    await this.#readStatus();
    this.#statusOf = statusOf;
  }

  /** The answer takes longer than a poll, and only `following` names the node. */
  #askHolder(token: number): void {
    if (this.#isAskingHolder) return;
    this.#isAskingHolder = true;
    const answered = (holder: string | null) => {
      this.#isAskingHolder = false;
      if (this.#published?.token === token) this.#holder = holder;
    };
    // A later poll asks again.
    this.#options.holder(token).then(answered, () => answered(null));
  }

  async #readStatus(): Promise<void> {
    const statuses = await this.#options.store.status();
    this.#statuses = statuses;
    const text = JSON.stringify(statuses.map((status) => ({ ...status, position: 0 })));
    if (text === this.#statusText) return;
    this.#statusText = text;
    for (const listener of this.#listeners) listener(this.status());
  }
}
