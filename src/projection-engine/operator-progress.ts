import { eventControl, skippedEventsId } from '#domain/operator/event-control.ts';
import { projectionControl } from '#domain/operator/projection-control.ts';
import { streamName } from '#domain/shared/entity.ts';
import type { EventBatch, EventStore, RecordedEvent } from '#event-store/event-store.ts';
import type { LogComparison } from '#event-store/log-comparison.ts';
import { identityByFirst } from '#event-store/log-identity.ts';
import type { LogTail } from '#event-store/log-tail.ts';
import { ensureReadable, UnreadableEventError } from '#event-store/recorded-event.ts';
import { UnreadableStreamError } from '#event-store/unreadable-stream.ts';
import type { IncompleteStreams } from '#read-store/incomplete-streams.ts';
import type { OperatorState, ReadStoreWriter, UnknownEventsState, UnknownEventType } from '#read-store/read-store.ts';
import { errorText } from '#shared/logging/logged-error.ts';
import type { Logger } from '#shared/logging/logger.ts';
import type { GenerationCatchUp } from './catch-up.ts';
import type { GenerationStarter, Persist, ProjectionRuntime } from './projection-runtime.ts';

/**
 * After this many events the position is stored, although nothing else has changed. A restart reads the events after it
 * again. A distance of positions would be a number of bytes on EventStoreDB.
 */
const maxUnsavedEvents = 10_000;

export interface OperatorProgressOptions {
  readonly events: Pick<EventStore, 'read'>;
  readonly tail: Pick<LogTail, 'firstEvent' | 'past' | 'compare'>;
  /** The types that this release knows; without them no events are counted. */
  readonly knownTypes?: ReadonlyArray<string>;
  readonly store: Pick<ReadStoreWriter, 'operatorState' | 'saveOperatorState' | 'readOfLog'>;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly persist: Persist;
  readonly apply: (request: OperatorRequest) => Promise<void>;
  /** Called when requests were applied. Their position is stored by then. */
  readonly onApplied: () => Promise<void>;
}

/**
 * The state that is stored next to the read models: the position up to which the operators' requests are applied, the
 * events to skip, the log of each read model, and the events of unknown types.
 */
export class OperatorProgress {
  readonly #options: OperatorProgressOptions;
  readonly #runtimes: ReadonlyArray<ProjectionRuntime>;
  readonly #unknown: UnknownEvents | null;
  #log = new EventLogIdentity(null);
  #appliedUpTo = 0;
  #unsavedEvents = 0;
  /** What was known before, until the count of earlier events of unknown types is complete. */
  #beforeCounting: Pick<OperatorState, 'position' | 'unknownEvents'> | null = null;

  constructor(runtimes: ReadonlyArray<ProjectionRuntime>, options: OperatorProgressOptions) {
    this.#runtimes = runtimes;
    this.#options = options;
    this.#unknown = options.knownTypes === undefined ? null : new UnknownEvents(options.knownTypes);
  }

  /** @param end the end of the log @returns the state, without the parts that are only valid for another log */
  async load(end: number): Promise<OperatorState> {
    const { tail, store, persist, signal } = this.#options;
    const state = await persist('Reading the operator state', () => store.operatorState());
    const first = await tail.firstEvent(signal, false);
    this.#log = new EventLogIdentity(first, state.madeFrom);
    const read = await persist('Reading what was read of the log', () => store.readOfLog());
    const compared = await tail.compare(read, signal);
    if (compared?.lost != null) this.#losesLog(compared);
    // A log that ends before a checkpoint is another log, too.
    const known: OperatorState = state.position <= end && !this.#log.hasOthers ? state : { position: 0, skipped: {} };
    const isCounted = this.#unknown?.restore(known.unknownEvents) ?? true;
    this.#appliedUpTo = isCounted ? known.position : 0;
    // The next start knows too that what is made from here on is not from the old log.
    if (compared?.lost != null) await this.#save();
    return known;
  }

  #losesLog({ lost, common }: LogComparison): void {
    this.#log.lose(this.#runtimes.map(({ projection }) => projection.name));
    this.#options.log.warn(
      { position: lost?.position, commonPosition: common?.position ?? 0 },
      common === null
        ? 'The log is another one than the read models were made from: they are built again'
        : 'The log no longer has events that the read models were made from, as after a restore: they are built again',
    );
  }

  isFromOtherLog(projection: string): boolean {
    return this.#log.isOther(projection);
  }

  /** Identifies an empty log by its first event. @returns whether these events hold it */
  seesFirst(events: ReadonlyArray<RecordedEvent>): boolean {
    return this.#log.begun(events);
  }

  async noteMade(runtimes: ReadonlyArray<ProjectionRuntime>): Promise<void> {
    if (this.#log.made(runtimes.map(({ projection }) => projection.name))) await this.#save();
  }

  /** Notes that a projection was built, and which of its streams lacked events. */
  async noteBuilt({ projection }: ProjectionRuntime): Promise<void> {
    this.#log.made([projection.name]);
    await this.#save();
  }

  /** Reads all skipped events at every start, because a projection of a later release follows them too. */
  async skippedEvents(): Promise<ReadonlyArray<RequestOf<'EventSkipped'>>> {
    const stream = streamName(eventControl, skippedEventsId);
    const requests = await this.#requestsOf(stream).catch((error: unknown) =>
      this.#requestsInLog(error, 0, skipRequestTypes),
    );
    return requests.filter((request) => request.type === 'EventSkipped');
  }

  /** Reads the requests from their own streams, before any event is fed, because the events to skip must be known. */
  async applyPast(end: number): Promise<void> {
    const after = this.#appliedUpTo;
    if (after >= end) return;
    const unknownEvents = this.#unknown?.state;
    this.#beforeCounting = { position: after, ...(unknownEvents && { unknownEvents }) };
    const requests = await this.#requestsInStreams().catch((error: unknown) =>
      this.#requestsInLog(error, after, projectionRequestTypes),
    );
    const due = requests.filter(({ position }) => position > after && position <= end);
    for (const request of due.toSorted((one, other) => one.position - other.position))
      await this.#options.apply(request);
    this.#appliedUpTo = end;
  }

  /**
   * Counts the events before the start. It runs next to the feeding of all others, so that a first start reads the log
   * once.
   */
  async countPast(): Promise<void> {
    const after = this.#beforeCounting?.position;
    if (after === undefined) return;
    const { tail, knownTypes, signal } = this.#options;
    const end = this.#appliedUpTo;
    if (knownTypes !== undefined) {
      for await (const batch of tail.past({ after, exceptTypes: knownTypes, signal })) {
        for (const event of batch.events) if (event.position <= end) this.#unknown?.count(event);
        if (batch.position >= end) break;
      }
      if (signal.aborted) return;
    }
    this.#beforeCounting = null;
    await this.#save();
  }

  /** Applies each request once. Counts the batch's events of unknown types, too. */
  async applyBatch(batch: EventBatch): Promise<void> {
    let isApplied = false;
    let isCounted = false;
    for (const event of batch.events) {
      if (event.position <= this.#appliedUpTo) continue;
      if (this.#unknown?.count(event) === true) isCounted = true;
      if (!isOperatorRequest(event)) continue;
      if (this.#isReadable(event)) await this.#options.apply(event);
      isApplied = true;
    }
    this.#unsavedEvents += batch.events.length;
    if (!isApplied && !isCounted && this.#unsavedEvents < maxUnsavedEvents) return;
    this.#appliedUpTo = Math.max(this.#appliedUpTo, batch.position);
    await this.#save();
    if (isApplied) await this.#options.onApplied();
  }

  async #requestsInStreams(): Promise<ReadonlyArray<OperatorRequest>> {
    const requests: OperatorRequest[] = [];
    for (const { projection } of this.#runtimes)
      requests.push(...(await this.#requestsOf(streamName(projectionControl, projection.name))));
    return requests;
  }

  /** Finds requests in the log, for a stream that lacks an event or has one that cannot be read. */
  async #requestsInLog(
    error: unknown,
    after: number,
    types: ReadonlyArray<string>,
  ): Promise<ReadonlyArray<OperatorRequest>> {
    if (!(error instanceof UnreadableEventError || error instanceof UnreadableStreamError)) throw error;
    const { tail, signal } = this.#options;
    const requests: OperatorRequest[] = [];
    for await (const batch of tail.past({ after, types, signal })) {
      for (const event of batch.events) if (isOperatorRequest(event) && this.#isReadable(event)) requests.push(event);
    }
    return requests;
  }

  async #requestsOf(stream: string): Promise<ReadonlyArray<OperatorRequest>> {
    const { events, persist } = this.#options;
    const requests: OperatorRequest[] = [];
    for (let revision = 0; ; ) {
      const part = await persist("Reading operators' requests", () => events.read(stream, revision));
      for (const event of part.events) if (isOperatorRequest(event)) requests.push(event);
      revision += part.events.length;
      if (part.isEnd) return requests;
    }
  }

  /** True if the request can be read. Otherwise it is left out, because nothing says which projection it is for. */
  #isReadable(event: RecordedEvent): boolean {
    try {
      ensureReadable(event);
      return true;
    } catch (error) {
      this.#options.log.error({ error: errorText(error) }, "An operator's request to a projection cannot be read");
      return false;
    }
  }

  #incompleteStreams(): Readonly<Record<string, IncompleteStreams>> {
    const found = this.#runtimes.filter(({ incompleteStreams: { count, isExact } }) => count > 0 || !isExact);
    return Object.fromEntries(found.map(({ projection, incompleteStreams }) => [projection.name, incompleteStreams]));
  }

  async #save(): Promise<void> {
    this.#unsavedEvents = 0;
    const skipped = Object.fromEntries(
      this.#runtimes.map((runtime) => [runtime.projection.name, [...runtime.skipped]] as const),
    );
    const state = {
      position: this.#appliedUpTo,
      skipped,
      madeFrom: this.#log.madeFrom,
      ...(this.#unknown && { unknownEvents: this.#unknown.state }),
      incompleteStreams: this.#incompleteStreams(),
      ...this.#beforeCounting,
    };
    const { store, persist } = this.#options;
    await persist('Storing the operator state', () => store.saveOperatorState(state));
  }
}

export interface OperatorCommandsOptions {
  readonly runtimes: ReadonlyArray<ProjectionRuntime>;
  /** The ids of the events that every projection skips. */
  readonly skippedByAll: Set<string>;
  readonly generations: GenerationStarter;
  readonly catchUp: GenerationCatchUp;
  readonly lastPosition: () => Promise<number>;
}

export class OperatorCommands {
  readonly #options: OperatorCommandsOptions;

  constructor(options: OperatorCommandsOptions) {
    this.#options = options;
  }

  /** Applies a request. One for a projection that this release does not have is ignored. */
  async apply(request: OperatorRequest): Promise<void> {
    if (request.type === 'EventSkipped') return this.#skipEverywhere(request.data.eventId);
    const runtime = this.#options.runtimes.find(({ projection }) => projection.name === request.data.projection);
    if (runtime === undefined) return;
    switch (request.type) {
      case 'ProjectionRebuildRequested':
        return this.#rebuild(runtime, request.position);
      case 'ProjectionEventSkipped':
        runtime.skipped.add(request.data.eventId);
        return this.#retryFailed(runtime);
      case 'ProjectionRetried':
        return this.#retryFailed(runtime);
    }
  }

  #skipEverywhere(eventId: string): void {
    const { runtimes, skippedByAll, catchUp } = this.#options;
    skippedByAll.add(eventId);
    const projectors = runtimes.flatMap((runtime) => runtime.projectors);
    catchUp.retry(projectors.filter(({ failure }) => failure?.eventId === eventId));
  }

  /** @param requestedAt the request's position */
  async #rebuild(runtime: ProjectionRuntime, requestedAt: number): Promise<void> {
    // A generation that began after the request fulfils it, so a request is carried out once, even after a restart.
    if (runtime.begunAt >= requestedAt) return;
    const { generations, catchUp, lastPosition } = this.#options;
    const before = runtime.filling;
    const filling = await generations.begin(runtime, Math.max(await lastPosition(), requestedAt));
    if (before !== null) catchUp.remove(before);
    catchUp.add([filling]);
  }

  #retryFailed(runtime: ProjectionRuntime): void {
    this.#options.catchUp.retry(runtime.projectors.filter(({ failure }) => failure !== null));
  }
}

/** Events on the streams `projection-{name}` and `event-skipped`. */
export interface OperatorRequestEvents {
  /** Rebuild the documents next to those that queries read. */
  readonly ProjectionRebuildRequested: { readonly projection: string };
  /** Continue from the event at which it stopped. */
  readonly ProjectionRetried: { readonly projection: string };
  /** Skip this event whenever the projection cannot handle it. */
  readonly ProjectionEventSkipped: { readonly projection: string; readonly eventId: string };
  /** Skip this event whenever any projection cannot handle it. */
  readonly EventSkipped: { readonly eventId: string };
}

type RequestOf<Type extends keyof OperatorRequestEvents> = RecordedEvent<Type, OperatorRequestEvents[Type]>;

export type OperatorRequest = { [Type in keyof OperatorRequestEvents]: RequestOf<Type> }[keyof OperatorRequestEvents];

const projectionRequestTypes = [
  'ProjectionRebuildRequested',
  'ProjectionRetried',
  'ProjectionEventSkipped',
] satisfies ReadonlyArray<keyof OperatorRequestEvents>;
const skipRequestTypes = ['EventSkipped'] satisfies ReadonlyArray<keyof OperatorRequestEvents>;

export const operatorRequestTypes: ReadonlyArray<string> = [...projectionRequestTypes, ...skipRequestTypes];

export function isOperatorRequest(event: RecordedEvent<string, unknown>): event is OperatorRequest {
  return operatorRequestTypes.includes(event.type);
}

/** Maximum number of types that are counted by name. Further ones are counted together. */
const maxTypes = 100;
const furtherTypes = '(further types)';

/** Counts events that no part of this release handles. They are skipped. */
export class UnknownEvents {
  readonly #knownTypes: ReadonlySet<string>;
  readonly #types = new Map<string, UnknownEventType>();

  constructor(knownTypes: ReadonlyArray<string>) {
    this.#knownTypes = new Set(knownTypes);
  }

  get state(): UnknownEventsState {
    return { types: [...this.#types.values()], knownTypes: [...this.#knownTypes] };
  }

  /** @returns false if the counts are not valid any more, so that the log must be counted again */
  restore(state: UnknownEventsState | undefined): boolean {
    if (state?.knownTypes.every((type) => this.#knownTypes.has(type)) !== true) return false;
    for (const counted of state.types) if (!this.#knownTypes.has(counted.type)) this.#types.set(counted.type, counted);
    return true;
  }

  /** @returns whether its type is unknown */
  count({ type, position }: { readonly type: string; readonly position: number }): boolean {
    if (this.#knownTypes.has(type)) return false;
    const name = this.#types.has(type) || this.#types.size < maxTypes ? type : furtherTypes;
    const before = this.#types.get(name) ?? { count: 0, firstPosition: position, lastPosition: position };
    this.#types.set(name, {
      type: name,
      count: before.count + 1,
      firstPosition: Math.min(before.firstPosition, position),
      lastPosition: Math.max(before.lastPosition, position),
    });
    return true;
  }
}

/** The identity of a log for read models that were made from events that the log no longer has. */
const lostLog = 'lost';

/** Identifies the log. On another one the checkpoint of a read model means nothing. */
export class EventLogIdentity {
  #log: string | null;
  readonly #madeFrom: Map<string, string>;

  /**
   * @param first the log's first event; null while it is empty
   * @param madeFrom the recorded log of each projection; a read model without a record counts as this log's
   */
  constructor(first: RecordedEvent | null, madeFrom: Readonly<Record<string, string>> = {}) {
    this.#log = first === null ? null : identityByFirst(first);
    this.#madeFrom = new Map(Object.entries(madeFrom));
  }

  get madeFrom(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#madeFrom);
  }

  get hasOthers(): boolean {
    return [...this.#madeFrom.keys()].some((name) => this.isOther(name));
  }

  isOther(projection: string): boolean {
    const log = this.#madeFrom.get(projection);
    return log === lostLog || (log !== undefined && this.#log !== null && log !== this.#log);
  }

  /** Notes that the log no longer has events from which these read models are made. */
  lose(projections: Iterable<string>): void {
    for (const name of projections) this.#madeFrom.set(name, lostLog);
  }

  /** Call it with events as they arrive: the first event of an empty log identifies it. @returns whether it now does */
  begun(events: ReadonlyArray<RecordedEvent>): boolean {
    const [first] = events;
    if (this.#log !== null || first === undefined) return false;
    this.#log = identityByFirst(first);
    return true;
  }

  /** Notes that read models were made from this log. @returns whether that is new */
  made(projections: Iterable<string>): boolean {
    let isNew = false;
    for (const name of projections) {
      if (this.#log === null || this.#madeFrom.get(name) === this.#log) continue;
      this.#madeFrom.set(name, this.#log);
      isNew = true;
    }
    return isNew;
  }
}
