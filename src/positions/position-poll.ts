import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { type EventFailure, eventFailureCodec } from '#domain/event-failure.ts';
import { ReadOfLog } from '#domain/shared/log-mark.ts';
import type { PublishedPositions } from '#read-store/published-positions.ts';
import type { RecordKey } from '#records/record-store.ts';
import { delay } from '#shared/async/timed-waits.ts';
import { clock } from '#shared/clock.ts';
import { nullable } from '#shared/codecs/choice.ts';
import type { Json } from '#shared/json/json.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { OutageLog } from '#shared/logging/outage-log.ts';
import type { FollowedPosition, FollowerInfo, FollowerKind, PositionSink, Positions } from './positions.ts';

export interface PolledPositions {
  /** What the node that runs the projections has published; null when none has yet. */
  readonly published: PublishedPositions | null;
  /** What the node that runs the processes has stored about this log; null without a record. */
  readonly processes: ProcessesRecord | null;
}

export interface PositionSource {
  /** @throws UnavailableError */
  poll(): Promise<PolledPositions>;
}

/**
 * Times between two polls in milliseconds. `silence` decides when the node that runs projections and processes counts
 * as dead.
 */
export interface PollLimits {
  /** The interval while a caller waits. Default 10. */
  readonly busy: number;
  /** The interval while no caller waits. Default 1000. */
  readonly idle: number;
  /** The interval after a failure. Default 500. */
  readonly failed: number;
  /** The maximum time without a publication: longer than a takeover by another node takes. Default 4000. */
  readonly silence: number;
}

export const defaultPollLimits: PollLimits = { busy: 10, idle: 1000, failed: 500, silence: 4000 };

export interface PositionPollOptions {
  readonly positions: Positions;
  readonly source: PositionSource;
  /** Called after each poll, before the next one. What it throws counts as a failure of the poll. */
  readonly onPoll: (published: PublishedPositions | null) => Promise<void>;
  readonly log: Logger;
  readonly limits?: Partial<PollLimits>;
}

type Followed = ReadonlyMap<string, FollowedPosition>;

const none: Followed = new Map();

/**
 * Feeds `Positions` on a node whose stores are shared: from one poll of the stores, and from the projections and
 * processes that run on this node, which report through it. A poll never takes back what this node knows. While the
 * node that runs the projections and processes is silent, their positions are unknown.
 */
export class PositionPoll implements PositionSink {
  readonly #options: PositionPollOptions;
  readonly #limits: PollLimits;
  readonly #outage: OutageLog;
  readonly #closing = new AbortController();
  readonly #unsubscribe: () => void;
  /** The positions of what runs on this node; nothing while other nodes run it. */
  readonly #own: Record<FollowerKind, Followed> = { projection: none, process: none };
  readonly #polled: Record<FollowerKind, Followed> = { projection: none, process: none };
  /**
   * The newest positions that this node has ever known. What is stored may be older: what runs here reports before it
   * stores, and a late write of the store may bring an older record back for a moment.
   */
  readonly #known: Record<FollowerKind, Followed> = { projection: none, process: none };
  #wake = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #published: PublishedPositions | null = null;
  /** When a publication was last heard, on this node's clock. */
  #heardAt = Number.NEGATIVE_INFINITY;
  #isAlive = false;
  #answers = false;
  #answeredAt = Number.NEGATIVE_INFINITY;

  constructor(options: PositionPollOptions) {
    this.#options = options;
    this.#limits = { ...defaultPollLimits, ...options.limits };
    this.#outage = new OutageLog(options.log, 'The positions of read models and processes');
    this.#unsubscribe = options.positions.onWait(() => {
      if (this.#isAwaited()) this.#wake.abort();
    });
  }

  get answers(): boolean {
    return this.#answers;
  }

  get answeredAt(): number {
    return this.#answeredAt;
  }

  /**
   * The node that runs the projections is alive if a second publication was seen, and the last one is not old. The
   * first one may come from a node that died long ago.
   */
  get isAlive(): boolean {
    return this.#isAlive && !this.#isSilent();
  }

  /** Returns after the first poll, whether or not it has succeeded. */
  async start(): Promise<void> {
    await this.#poll();
    this.#running = this.#run();
  }

  declare(kind: FollowerKind, followers: ReadonlyArray<FollowerInfo>): void {
    this.#options.positions.declare(kind, followers);
  }

  /** Sets the positions of what runs on this node. An empty map: this node does not run it any more. */
  update(kind: FollowerKind, positions: ReadonlyMap<string, FollowedPosition>): void {
    const hasEnded = positions.size === 0 && this.#own[kind].size > 0;
    // What ran here has been reported, and may not be stored yet.
    if (hasEnded) this.#polled[kind] = newestOf(this.#own[kind], this.#polled[kind]);
    this.#own[kind] = positions;
    this.#known[kind] = newestOf(positions, this.#known[kind]);
    this.#report(kind);
    // Callers that waited for what ran here wait for another node now.
    if (hasEnded && this.#isAwaited()) this.#wake.abort();
  }

  recordEffect(process: string, causePosition: number, appendedPosition: number): void {
    this.#options.positions.recordEffect(process, causePosition, appendedPosition);
  }

  async close(): Promise<void> {
    this.#unsubscribe();
    this.#closing.abort();
    this.#wake.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      this.#wake = new AbortController();
      if (this.#isAwaited()) await delay(this.#limits.busy, this.#closing.signal);
      else await delay(this.#limits.idle, this.#wake.signal);
      if (!this.#closing.signal.aborted) await this.#poll();
    }
  }

  /**
   * True if a caller waits for what other nodes run. What runs on this node is reported immediately, so it needs no
   * poll.
   */
  #isAwaited(): boolean {
    return this.#options.positions.isWaitingFor((kind, name) => !this.#isOwn(kind, name));
  }

  #isOwn(kind: FollowerKind, name: string): boolean {
    const own = this.#own[kind].get(name);
    const polled = this.#polled[kind].get(name);
    return own !== undefined && (polled === undefined || isAsFar(own, polled));
  }

  async #poll(): Promise<void> {
    const { source, onPoll } = this.#options;
    try {
      const sentAt = clock.now();
      const { published, processes } = await source.poll();
      this.#hear(published);
      this.#applyProcesses(processes);
      this.#apply('projection', published === null ? none : projectionsIn(published));
      await onPoll(published);
      this.#answers = true;
      this.#answeredAt = sentAt;
      this.#outage.succeeded();
    } catch (error) {
      this.#answers = false;
      this.#outage.failed(error);
      // To poll a store that is down a hundred times a second helps no caller.
      await delay(this.#limits.failed, this.#closing.signal);
    }
  }

  #hear(published: PublishedPositions | null): void {
    const before = this.#published;
    this.#published = published;
    if (published === null || (published.token === before?.token && published.beat === before.beat)) return;
    this.#heardAt = clock.now();
    this.#isAlive = before !== null;
  }

  #applyProcesses(record: ProcessesRecord | null): void {
    for (const { process, cause, appended } of record?.effects ?? []) this.recordEffect(process, cause, appended);
    this.#apply('process', record === null ? none : processesIn(record));
  }

  /** The node that runs the projections runs the processes too, and only the projections show that it is alive. */
  #apply(kind: FollowerKind, polled: Followed): void {
    const after = notBefore(this.#known[kind], polled);
    this.#known[kind] = newestOf(after, this.#known[kind]);
    this.#polled[kind] = this.#isSilent() ? none : after;
    this.#report(kind);
  }

  #report(kind: FollowerKind): void {
    this.#options.positions.update(kind, newestOf(this.#own[kind], this.#polled[kind]));
  }

  #isSilent(): boolean {
    return clock.now() - this.#heardAt > this.#limits.silence;
  }
}

function projectionsIn({ projections }: PublishedPositions): Followed {
  return new Map(projections.map(({ name, ...followed }) => [name, followed]));
}

/** The processes that follow the log. One that has stopped, waits or looks again at events of the past does not. */
function processesIn({ checkpoints, liveFrom }: ProcessesRecord): Followed {
  const each = Object.entries(checkpoints);
  return new Map(
    each.map(([name, { position, failure, waitingFor }]) => {
      return [name, { position, live: failure === null && waitingFor === null && position >= liveFrom }];
    }),
  );
}

/** The newest positions. Of two equal positions of a follower the one of this node is newer. */
function newestOf(own: Followed, polled: Followed): Followed {
  if (own.size === 0) return polled;
  const newest = new Map(polled);
  for (const [name, followed] of own) {
    const other = polled.get(name);
    if (other === undefined || isAsFar(followed, other)) newest.set(name, followed);
  }
  return newest;
}

function notBefore(known: Followed, polled: Followed): Followed {
  const after = new Map(polled);
  for (const [name, followed] of polled) {
    const before = known.get(name);
    if (before !== undefined && !isAsFar(followed, before)) after.set(name, { ...before, live: followed.live });
  }
  return after;
}

function isAsFar(one: FollowedPosition, other: FollowedPosition): boolean {
  const [generation, otherGeneration] = [one.generation ?? 0, other.generation ?? 0];
  return generation === otherGeneration ? one.position >= other.position : generation > otherGeneration;
}

export interface ProcessCheckpoint {
  /** The process has handled every event up to it; 0 at first. */
  readonly position: number;
  /** The position of the last event that the process itself has appended; 0 without one. */
  readonly lastAppended: number;
  /** The failure at which it has stopped; null while it runs. */
  readonly failure: EventFailure | null;
  /** What it waits for, such as a read model; null if it waits for nothing. */
  readonly waitingFor: string | null;
}

export const startOfLog: ProcessCheckpoint = { position: 0, lastAppended: 0, failure: null, waitingFor: null };

export interface ProcessEffect {
  readonly process: string;
  readonly cause: number;
  /** The position of the last event that it appended because of the cause. */
  readonly appended: number;
}

export interface ProcessesRecord {
  /** The log of the positions (`src/event-store/log-identity.ts`). */
  readonly log: string;
  /** The fencing token of the lease under which it was written. */
  readonly token: number;
  readonly checkpoints: Readonly<Record<string, ProcessCheckpoint>>;
  /** The newest effects of all processes. */
  readonly effects: ReadonlyArray<ProcessEffect>;
  /** What was read of the log up to the checkpoints. */
  readonly read: ReadOfLog;
  /** Before this position the processes look again at events of the past, and no caller waits for them. */
  readonly liveFrom: number;
}

/** The key of the record, for a poll that reads it together with others. */
export const processesRecordKey: RecordKey = { kind: 'processes', key: 'all' };

const Record = t.type({
  log: t.string,
  token: t.number,
  checkpoints: t.record(
    t.string,
    t.type({
      position: t.number,
      lastAppended: t.number,
      failure: nullable(eventFailureCodec),
      waitingFor: nullable(t.string),
    }),
  ),
  effects: t.readonlyArray(t.type({ process: t.string, cause: t.number, appended: t.number })),
  read: ReadOfLog,
  liveFrom: t.number,
});

/** Null if there is no record, or if this release cannot read it. */
export function decodeProcessesRecord(value: Json): ProcessesRecord | null {
  const record = Record.decode(value);
  return E.isRight(record) ? record.right : null;
}
