import type { EventBatch, EventStore, RecordedEvent, SubscribeOptions } from '#event-store/event-store.ts';
import { ensureReadable } from '#event-store/lazy-event.ts';
import type {
  CollectionDefinition,
  Generation,
  OperatorState,
  ProjectionStatus,
  ReadStoreWriter,
} from '#read-store/read-store.ts';
import { abortable } from '#shared/async/abortable.ts';
import { type Retrying, retrying } from '#shared/async/retrying.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { Log } from '#shared/logging/read-store-log.ts';
import type { DocumentBufferLimits } from './document-buffer.ts';
import { GenerationProjector } from './generation-projector.ts';
import { EventLogIdentity, firstEventOf } from './log-identity-check.ts';
import { isOperatorRequest, operatorRequestTypes } from './operator-requests.ts';
import type { AnyProjection } from './projection.ts';
import { type Pace, ProjectionRuntime, type ServedPosition } from './projection-runtime.ts';
import { RebuildLog } from './rebuild-log.ts';
import { SubscriptionGroup } from './subscription-group.ts';
import { UnknownEvents } from './unknown-events.ts';

/** A projection that lies further behind than this catches up on its own, so that it holds up no other. */
const liveWindow = 10_000;
const liveBatchSize = 1000;
/** Small batches and many together: live events wait for no more than one, and a document that changes often is stored once. */
const rebuildBatchSize = 1000;
const rebuildBatchesTogether = 20;
/** After live events each batch is stored by itself for so long: those that wait for the next ones wait less. */
const liveQuietMilliseconds = 1000;
const liveLimits: DocumentBufferLimits = { maxDocuments: 1000, maxBytes: 8 * 1024 * 1024 };
const rebuildLimits: DocumentBufferLimits = { maxDocuments: 5000, maxBytes: 32 * 1024 * 1024 };
const statusMilliseconds = 500;

export interface ProjectionRunnerOptions {
  readonly projections: ReadonlyArray<AnyProjection>;
  readonly events: Pick<EventStore, 'subscribe' | 'lastPosition'>;
  /** The event types that this release knows; events of others are counted. Default: whatever comes is known. */
  readonly knownTypes?: ReadonlyArray<string>;
  /** The runner is its only writer. */
  readonly store: ReadStoreWriter;
  readonly log: Log;
  /** Ends it, as `close` does: also while it is starting, whatever it waits for then. */
  readonly signal?: AbortSignal;
  /** Called when `positions` may have moved. */
  readonly onPositions?: () => void;
  /** Called when `status` has changed in more than positions, and twice a second while something is rebuilt. */
  readonly onStatus?: () => void;
}

/** Keeps every projection's documents in step with the log. */
export interface ProjectionRunner {
  /** In the order of the projections given. */
  status(): ReadonlyArray<ProjectionStatus>;
  /** In the order of the projections given: where what queries read stands. */
  positions(): ReadonlyArray<ServedPosition>;
  /** Every projection has seen the end of the log since the start, or has stopped. */
  ready(): boolean;
  /** Settles when it has ended; rejects when it cannot go on. */
  readonly finished: Promise<void>;
  /** Finishes the batch at hand, stores the checkpoints, and ends. The store stays open. */
  close(): Promise<void>;
}

/**
 * Starts feeding the log to projections: those that stand go on from their checkpoints, those that are new, changed
 * or asked to be rebuilt are filled beside what queries read and swapped in when they have caught up.
 * @returns once it knows where they stand; with its end behind it already when the signal has aborted before
 * @throws what the stores throw other than UnavailableError, which is waited out
 */
export async function startProjectionRunner(options: ProjectionRunnerOptions): Promise<ProjectionRunner> {
  const runner = new Runner(options);
  await runner.start();
  return runner;
}

class Runner implements ProjectionRunner {
  readonly #options: ProjectionRunnerOptions;
  readonly #closing = new AbortController();
  /** Aborts when it is to end. */
  readonly #signal: AbortSignal;
  readonly #retry: Retrying;
  readonly #standings: ReadonlyArray<ProjectionRuntime>;
  readonly #pace = new ThroughputMeter();
  readonly #report: RebuildLog;
  #live: SubscriptionGroup;
  readonly #catchUp: SubscriptionGroup;
  #starting = true;
  #turn: Promise<void> = Promise.resolve();
  #obeyedUpTo = 0;
  #origin = new EventLogIdentity(null);
  readonly #unknown: UnknownEvents | null;
  #statusAt = 0;
  /** When live events were last folded. */
  #liveAt = Number.NEGATIVE_INFINITY;
  finished: Promise<void> = Promise.resolve();

  constructor(options: ProjectionRunnerOptions) {
    this.#options = options;
    this.#report = new RebuildLog(options.log);
    this.#unknown = options.knownTypes === undefined ? null : new UnknownEvents(options.knownTypes);
    const { signal = this.#closing.signal } = options;
    this.#signal = AbortSignal.any([signal, this.#closing.signal]);
    this.#retry = { log: options.log, signal: this.#signal };
    this.#standings = options.projections.map((projection) => new ProjectionRuntime(projection, []));
    this.#live = this.#liveLane(0);
    this.#catchUp = new SubscriptionGroup(0, {
      ...this.#laneOptions(),
      batchSize: rebuildBatchSize,
      batchesTogether: () => this.#rebuildBatchesTogether(),
      onBatch: (batch) => this.#afterCatchUpBatch(batch),
    });
  }

  status(): ReadonlyArray<ProjectionStatus> {
    const pace = this.#pace.pace();
    return this.#standings.map((standing) => standing.status(pace));
  }

  positions(): ReadonlyArray<ServedPosition> {
    return this.#standings.map(({ served }) => served);
  }

  ready(): boolean {
    return this.#standings.every(({ settled }) => settled);
  }

  async start(): Promise<void> {
    try {
      await this.#takeUpAll();
    } catch (error) {
      if (this.#signal.aborted) return;
      throw error;
    }
    this.#starting = false;
    this.finished = this.#run();
    // Whoever started the runner looks at `finished` in its own time.
    this.finished.catch(() => undefined);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.finished;
  }

  async #takeUpAll(): Promise<void> {
    const { events, store } = this.#options;
    const end = await this.#persist('Reading the log', () => events.lastPosition());
    await this.#persist('Dropping old read models', () =>
      store.dropOthers(this.#standings.map(({ projection }) => projection.name)),
    );
    const operator = await this.#operatorState(end);
    for (const standing of this.#standings) await this.#takeUp(standing, operator, end);
    await this.#obeyPast(end);
    await this.#noteOrigin(this.#standings.filter(({ projection }) => !this.#origin.isOther(projection.name)));
    this.#assignLanes(end);
    await this.#tellStatus();
  }

  async #run(): Promise<void> {
    try {
      await Promise.all([this.#live.run(() => []), this.#catchUp.run(() => this.#catchUpTypes())]);
      await this.#saveCheckpoints();
    } catch (error) {
      const closing = this.#signal.aborted;
      this.#closing.abort();
      // What could not be stored is folded again from the checkpoints.
      if (!closing || !(error instanceof UnavailableError)) throw error;
    }
  }

  async #operatorState(end: number): Promise<OperatorState> {
    const { events, store } = this.#options;
    const state = await this.#persist('Reading the operator state', () => store.operatorState());
    const first = await this.#persist('Reading the log', () => firstEventOf(events, this.#signal));
    this.#origin = new EventLogIdentity(first, state.madeFrom);
    // A log that ends before what was seen of it is another log, too.
    const known: OperatorState =
      state.position <= end && !this.#origin.hasOthers ? state : { position: 0, skipped: {} };
    const isCounted = this.#unknown?.restore(known.unknownEvents) ?? true;
    this.#obeyedUpTo = isCounted ? known.position : 0;
    return known;
  }

  async #takeUp(standing: ProjectionRuntime, operator: OperatorState, end: number): Promise<void> {
    const { projection } = standing;
    for (const id of operator.skipped[projection.name] ?? []) standing.skipped.add(id);
    const { store } = this.#options;
    const { current, filling } = await this.#persist('Reading the generations', () =>
      store.generations(projection.name),
    );
    const isOther = this.#origin.isOther(projection.name);
    const usable = (generation: Generation | null): generation is Generation =>
      generation !== null &&
      !isOther &&
      fits(generation, projection) &&
      generation.checkpoint <= end &&
      generation.begunAt <= end;
    if (usable(current) && current.complete) standing.current = this.#feed(standing, current, liveLimits);
    // What was made from another log answers nothing of this one.
    else if (current?.complete === true && !isOther) standing.frozen = current;
    const unfinished = [filling, current].find((generation) => usable(generation) && !generation.complete);
    if (unfinished) standing.filling = this.#feed(standing, unfinished, rebuildLimits);
    if (standing.current === null && standing.filling === null) await this.#begin(standing, end);
  }

  async #begin(standing: ProjectionRuntime, begunAt: number): Promise<void> {
    const { projection } = standing;
    const definition: CollectionDefinition = {
      name: projection.name,
      version: projection.version,
      indexes: projection.indexes,
    };
    const generation = await this.#persist('Beginning a rebuild', () => this.#options.store.begin(definition, begunAt));
    if (standing.filling !== null) this.#catchUp.remove(standing.filling);
    standing.filling = this.#feed(standing, generation, rebuildLimits);
  }

  /** Notes that these read models are made from this log. */
  async #noteOrigin(standings: ReadonlyArray<ProjectionRuntime>): Promise<void> {
    if (this.#origin.made(standings.map(({ projection }) => projection.name))) await this.#saveOperatorState();
  }

  /**
   * Operators' requests that nobody has obeyed yet, read before anything is fed: what to skip must be known then. Events
   * of unknown types are counted on the way.
   */
  async #obeyPast(end: number): Promise<void> {
    const after = this.#obeyedUpTo;
    if (after >= end) return;
    const signal = this.#signal;
    for await (const batch of this.#options.events.subscribe({ after, ...this.#beyondReadModels(), signal })) {
      await this.#obeyBatch(batch);
      if (batch.caughtUp) return;
    }
  }

  #beyondReadModels(): Pick<SubscribeOptions, 'types' | 'exceptTypes'> {
    const { knownTypes } = this.#options;
    if (knownTypes === undefined) return { types: operatorRequestTypes };
    return { exceptTypes: knownTypes.filter((type) => !operatorRequestTypes.includes(type)) };
  }

  #assignLanes(end: number): void {
    const current = this.#standings.flatMap((standing) => (standing.current === null ? [] : [standing.current]));
    const newest = current.reduce((position, feed) => Math.max(position, feed.position), 0);
    const near = current.filter(({ position }) => position >= newest - liveWindow);
    this.#live = this.#liveLane(near.reduce((position, feed) => Math.min(position, feed.position), end));
    for (const feed of near) this.#live.add(feed);
    for (const feed of this.#standings.flatMap(({ feeds }) => feeds)) if (!near.includes(feed)) this.#catchUp.add(feed);
    this.#renewCatchUp();
  }

  #liveLane(after: number): SubscriptionGroup {
    return new SubscriptionGroup(after, {
      ...this.#laneOptions(),
      batchSize: liveBatchSize,
      batchesTogether: () => 1,
      onBatch: (batch) => this.#afterLiveBatch(batch),
    });
  }

  #laneOptions() {
    const { events, store, log } = this.#options;
    const onFailed = (feed: GenerationProjector) => this.#stopped(feed);
    const onWentBack = (feed: GenerationProjector) => this.#feedAgain([feed]);
    const inTurn = (work: () => Promise<void>) => this.#inTurn(work);
    return { events, store, log, signal: this.#signal, onFailed, onWentBack, inTurn };
  }

  #rebuildBatchesTogether(): number {
    return performance.now() - this.#liveAt < liveQuietMilliseconds ? 1 : rebuildBatchesTogether;
  }

  async #afterLiveBatch(batch: EventBatch): Promise<void> {
    if (batch.events.length > 0) this.#liveAt = performance.now();
    let settled = true;
    for (const feed of this.#live.members) {
      settled &&= feed.caughtUp;
      feed.caughtUp ||= batch.caughtUp;
    }
    this.#options.onPositions?.();
    if (this.#origin.begun(batch.events))
      await this.#noteOrigin(this.#standings.filter(({ current }) => current !== null));
    await this.#obeyBatch(batch);
    if (!settled && batch.caughtUp) await this.#tellStatus();
  }

  async #afterCatchUpBatch(batch: EventBatch): Promise<void> {
    this.#pace.count(batch);
    this.#report.folded(batch, this.#rebuilding(), this.#pace.pace());
    if (batch.caughtUp || batch.position >= this.#live.position) await this.#endCatchUps(batch);
    if (this.#rebuilding().length === 0) this.#report.ended();
    this.#options.onPositions?.();
    if (performance.now() - this.#statusAt >= statusMilliseconds) {
      this.#pace.aim(await this.#persist('Reading the log', () => this.#options.events.lastPosition()));
      await this.#tellStatus();
    }
  }

  /** The names of the projections that are being rebuilt. */
  #rebuilding(): ReadonlyArray<string> {
    const filling = this.#standings.filter(
      (standing) => standing.filling !== null && standing.filling.failure === null,
    );
    return filling.map(({ projection }) => projection.name);
  }

  async #endCatchUps(batch: EventBatch): Promise<void> {
    for (const feed of [...this.#catchUp.members]) {
      await this.#finish(feed);
      // Events may have come meanwhile; what the live lane has read must have been seen before joining it.
      if (feed.position < this.#live.position) continue;
      if (this.#catchUp.members.has(feed)) await this.#goLive(feed);
    }
    // A subscription to some types alone may never tell how far the log has grown: a new one does.
    if (this.#catchUp.members.size === 0 || batch.caughtUp) this.#renewCatchUp();
  }

  async #finish(feed: GenerationProjector): Promise<void> {
    if (feed.finished) return;
    await this.#persist('Indexing a read model', () => this.#options.store.finish(feed.generation));
    feed.finished = true;
  }

  async #goLive(feed: GenerationProjector): Promise<void> {
    const standing = this.#standingOf(feed);
    // From here to its publication it is in the live lane: nothing passes it by.
    this.#catchUp.remove(feed);
    this.#live.add(feed);
    feed.caughtUp = true;
    feed.limit(liveLimits);
    if (!feed.complete) {
      await this.#persist('Publishing a read model', () => this.#options.store.publish(feed.generation));
      feed.complete = true;
      if (standing.current !== null) this.#forget(standing.current);
      standing.current = feed;
      standing.frozen = null;
      standing.filling = null;
      this.#report.built(standing.projection.name);
      await this.#noteOrigin([standing]);
    }
    await this.#tellStatus();
  }

  #forget(feed: GenerationProjector): void {
    this.#live.remove(feed);
    this.#catchUp.remove(feed);
  }

  #renewCatchUp(): void {
    const positions = [...this.#catchUp.members].map(({ position }) => position);
    this.#pace.restart();
    this.#catchUp.renew(positions.length === 0 ? this.#live.position : Math.min(...positions));
  }

  #catchUpTypes(): ReadonlyArray<string> | null {
    const members = [...this.#catchUp.members];
    return members.length === 0 ? null : [...new Set(members.flatMap(({ types }) => [...types]))];
  }

  async #stopped(feed: GenerationProjector): Promise<void> {
    const standing = this.#standingOf(feed);
    this.#options.log.error(
      { projection: standing.projection.name, ...feed.failure },
      'A projection has stopped at an event that it cannot take: retry it, or skip the event',
    );
    await this.#tellStatus();
  }

  async #obeyBatch(batch: EventBatch): Promise<void> {
    let obeyed = false;
    let counted = false;
    for (const event of batch.events) {
      if (event.position <= this.#obeyedUpTo) continue;
      if (this.#unknown?.count(event) === true) counted = true;
      if (!isOperatorRequest(event)) continue;
      await this.#obeyReadable(event);
      obeyed = true;
    }
    const due = obeyed || counted || batch.position - this.#obeyedUpTo >= liveWindow;
    if (!due) return;
    this.#obeyedUpTo = Math.max(this.#obeyedUpTo, batch.position);
    await this.#saveOperatorState();
    if (obeyed) await this.#tellStatus();
  }

  /** One that cannot be read is left out: which projection it is for is not known. */
  async #obeyReadable(event: RecordedEvent): Promise<void> {
    try {
      ensureReadable(event);
    } catch (error) {
      this.#options.log.error({ error: String(error) }, "An operator's request to a projection cannot be read");
      return;
    }
    await this.#obey(event);
  }

  async #obey(event: RecordedEvent): Promise<void> {
    if (!isOperatorRequest(event)) return;
    const standing = this.#standings.find(({ projection }) => projection.name === event.data.projection);
    if (standing === undefined) return;
    switch (event.type) {
      case 'ProjectionRebuildRequested':
        // A generation begun since holds what was asked for: so a request is obeyed once, whatever is stored when.
        if (standing.begunAt >= event.position) return;
        await this.#begin(standing, await this.#endOfLog(event.position));
        if (standing.filling !== null) this.#catchUp.add(standing.filling);
        return this.#renewCatchUp();
      case 'ProjectionEventSkipped':
        standing.skipped.add(event.data.eventId);
        return this.#tryAgain(standing);
      case 'ProjectionRetried':
        return this.#tryAgain(standing);
    }
  }

  #tryAgain(standing: ProjectionRuntime): void {
    this.#feedAgain(standing.feeds.filter(({ failure }) => failure !== null));
  }

  /** Feeds generations from where they stand, apart from those that follow the log. */
  #feedAgain(feeds: ReadonlyArray<GenerationProjector>): void {
    if (feeds.length === 0) return;
    for (const feed of feeds) {
      feed.retry();
      this.#catchUp.add(feed);
    }
    this.#renewCatchUp();
  }

  async #endOfLog(atLeast: number): Promise<number> {
    const end = await this.#persist('Reading the log', () => this.#options.events.lastPosition());
    return Math.max(end, atLeast);
  }

  async #saveOperatorState(): Promise<void> {
    const skipped = Object.fromEntries(
      this.#standings.map((standing) => [standing.projection.name, [...standing.skipped]] as const),
    );
    const state = {
      position: this.#obeyedUpTo,
      skipped,
      madeFrom: this.#origin.madeFrom,
      ...(this.#unknown && { unknownEvents: this.#unknown.state }),
    };
    await this.#persist('Storing the operator state', () => this.#options.store.saveOperatorState(state));
  }

  async #saveCheckpoints(): Promise<void> {
    const feeds = this.#standings.flatMap((standing) => standing.feeds);
    const commits = feeds.map((feed) => feed.unsaved()).filter((commit) => commit !== null);
    await this.#options.store.commit(commits);
    await this.#options.store.saveStatus(this.status());
  }

  async #tellStatus(): Promise<void> {
    this.#statusAt = performance.now();
    this.#options.onPositions?.();
    this.#options.onStatus?.();
    await this.#persist('Storing the status', () => this.#options.store.saveStatus(this.status()));
  }

  #feed(standing: ProjectionRuntime, generation: Generation, limits: DocumentBufferLimits): GenerationProjector {
    return new GenerationProjector(standing.projection, generation, standing.skipped, limits);
  }

  #standingOf(feed: GenerationProjector): ProjectionRuntime {
    const standing = this.#standings.find(({ projection }) => projection === feed.projection);
    if (standing === undefined) throw new Error(`No projection ${feed.projection.name} is run here.`);
    return standing;
  }

  /** Lanes take turns, so that no generation is dropped while another lane is storing to it. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  #persist<Result>(what: string, call: () => Promise<Result>): Promise<Result> {
    if (!this.#starting) return retrying(what, call, this.#retry);
    // Nothing is at hand yet that would have to be finished.
    return abortable(this.#signal, () => retrying(what, call, this.#retry));
  }
}

/** Measures a rebuild since it was last begun or joined by another. */
class ThroughputMeter {
  #startedAt = 0;
  #from: number | null = null;
  #events = 0;
  #position = 0;
  #target = 0;

  restart(): void {
    this.#from = null;
  }

  count(batch: EventBatch): void {
    if (this.#from === null) {
      // The first batch tells where it begins; what it took to read it is not known.
      this.#from = batch.position;
      this.#startedAt = performance.now();
      this.#events = 0;
    } else {
      this.#events += batch.events.length;
    }
    this.#position = batch.position;
  }

  aim(target: number): void {
    this.#target = target;
  }

  pace(): Pace | null {
    if (this.#from === null) return null;
    const seconds = Math.max(0.001, (performance.now() - this.#startedAt) / 1000);
    const eventsPerSecond = this.#events / seconds;
    return { target: this.#target, eventsPerSecond, positionsPerSecond: (this.#position - this.#from) / seconds };
  }
}

function fits(generation: CollectionDefinition, projection: AnyProjection): boolean {
  return (
    generation.version === projection.version &&
    JSON.stringify(generation.indexes) === JSON.stringify(projection.indexes)
  );
}
