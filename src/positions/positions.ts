import type { Admission } from '#exchange/admission.ts';
import { currentOwner, type FairPlaces } from '#shared/async/fair-queue.ts';
import { clock } from '#shared/clock.ts';
import { RecentEffects } from './recent-effects.ts';

export interface FollowedPosition {
  readonly position: number;
  /** Whether it follows the log: false after it has stopped, and while its documents are filled for the first time. */
  readonly live: boolean;
  /** The number of the generation whose documents queries read; only for a projection. */
  readonly generation?: number;
}

/** What follows the log. A projection has its read model's name. */
export type FollowerKind = 'projection' | 'process';

export interface FollowerInfo {
  readonly name: string;
  readonly types: ReadonlyArray<string>;
}

/** `reached`: the followers have passed the position. `timeout`: the time ran out first. */
export type WaitOutcome = 'reached' | 'timeout';

/** A source is the projector thread, the process host, or the poll of a shared store. */
export interface PositionSink {
  /** Sets which followers of a kind exist, in place of earlier ones. */
  declare(kind: FollowerKind, followers: ReadonlyArray<FollowerInfo>): void;
  /** Sets the positions of a kind. A follower that is missing is unknown: no caller waits for it, unless strictly. */
  update(kind: FollowerKind, positions: ReadonlyMap<string, FollowedPosition>): void;
  /**
   * Reports that a process has appended because of an event, so that a caller who appended that event also waits for
   * the read models of this append. It must be called for each append of a reaction, before `update` reports that the
   * process has passed the event. It may be called again with the same values.
   * @param causePosition the position of the event to which it reacted
   * @param appendedPosition the position of the last event of this append
   */
  recordEffect(process: string, causePosition: number, appendedPosition: number): void;
}

/** The followers for which a caller waits: some by name, those that handle one of some event types, or all. */
type FollowerSelection = { readonly names: ReadonlyArray<string> } | { readonly types: ReadonlyArray<string> } | 'all';

interface FollowerOptions {
  /** Default `projection`. */
  readonly kind?: FollowerKind;
  /** Also counts followers that do not follow the log now, or whose position is unknown. Default false. */
  readonly strict?: boolean;
}

export interface PassedOptions extends FollowerOptions {
  /** The maximum wait. */
  readonly ms: number;
  /** Ends the wait early, with `timeout`. */
  readonly signal?: AbortSignal;
}

interface Condition {
  readonly kind: FollowerKind;
  readonly names: ReadonlyArray<string>;
  readonly position: number;
  readonly strict: boolean;
}

interface Wait extends Condition {
  readonly end: (outcome: WaitOutcome) => void;
}

type EachKind<Value> = Record<FollowerKind, Value>;

/**
 * The positions of everything that follows the log, on whichever thread or node it runs, and the callers that wait
 * until some of it has passed a position.
 */
export class Positions implements PositionSink {
  readonly #followers: EachKind<ReadonlyArray<string>> = { projection: [], process: [] };
  readonly #byType: EachKind<ReadonlyMap<string, ReadonlyArray<string>>> = {
    projection: new Map(),
    process: new Map(),
  };
  readonly #positions: EachKind<ReadonlyMap<string, FollowedPosition>> = { projection: new Map(), process: new Map() };
  readonly #waits: EachKind<Set<Wait>> = { projection: new Set(), process: new Set() };
  readonly #places: FairPlaces;
  readonly #effects = new RecentEffects();
  readonly #updateListeners = new Set<(kind: FollowerKind) => void>();
  readonly #waitListeners = new Set<() => void>();
  #isClosed = false;

  constructor({ rooms }: Pick<Admission, 'rooms'>) {
    this.#places = rooms['position wait'];
  }

  declare(kind: FollowerKind, followers: ReadonlyArray<FollowerInfo>): void {
    this.#followers[kind] = followers.map(({ name }) => name);
    this.#byType[kind] = namesByType(followers);
  }

  update(kind: FollowerKind, positions: ReadonlyMap<string, FollowedPosition>): void {
    this.#positions[kind] = positions;
    for (const wait of this.#waits[kind]) if (this.#isMet(wait)) wait.end('reached');
    for (const listener of this.#updateListeners) listener(kind);
  }

  recordEffect(process: string, causePosition: number, appendedPosition: number): void {
    this.#effects.add(process, causePosition, appendedPosition);
  }

  /** The effects of a process because of an event, as far as they are remembered. */
  effectsOf(process: string, causePosition: number): Iterable<number> {
    return this.#effects.of(process, causePosition);
  }

  /**
   * Waits until followers have passed a position. It does not wait for those that do not count.
   * @returns `timeout` after `ms`, immediately if too many callers wait already, and after `close`
   */
  passed(followers: FollowerSelection, position: number, options: PassedOptions): Promise<WaitOutcome> {
    const condition = this.#conditionOf(followers, position, options);
    const { ms, signal } = options;
    if (this.#isMet(condition)) return Promise.resolve('reached');
    if (ms <= 0 || this.#isClosed || signal?.aborted === true) return Promise.resolve('timeout');
    const owner = currentOwner();
    if (!this.#places.take(owner)) return Promise.resolve('timeout');
    return this.#wait(condition, ms, signal, owner);
  }

  /**
   * Returns the generation of a read model that has the documents up to the known position; undefined if it is not
   * known. A caller whose wait has ended therefore reads what it has waited for.
   */
  generationOf(projection: string): number | undefined {
    return this.#positions.projection.get(projection)?.generation;
  }

  hasPassed(followers: FollowerSelection, position: number, options: FollowerOptions = {}): boolean {
    return this.#isMet(this.#conditionOf(followers, position, options));
  }

  /** True if the follower has stopped, or is filled for the first time. */
  isHalted(kind: FollowerKind, name: string): boolean {
    return this.#positions[kind].get(name)?.live === false;
  }

  isWaitingFor(fits: (kind: FollowerKind, name: string) => boolean): boolean {
    return Object.values(this.#waits).some((waits) =>
      [...waits].some(({ kind, names }) => names.some((name) => fits(kind, name))),
    );
  }

  /** @returns a function that unsubscribes the listener */
  onUpdate(listener: (kind: FollowerKind) => void): () => void {
    this.#updateListeners.add(listener);
    return () => this.#updateListeners.delete(listener);
  }

  /** @returns a function that unsubscribes the listener */
  onWait(listener: () => void): () => void {
    this.#waitListeners.add(listener);
    return () => this.#waitListeners.delete(listener);
  }

  /** Ends also the waits that begin later. */
  close(): void {
    this.#isClosed = true;
    for (const waits of Object.values(this.#waits)) for (const wait of waits) wait.end('timeout');
  }

  #wait(condition: Condition, ms: number, signal: AbortSignal | undefined, owner: string): Promise<WaitOutcome> {
    const { promise, resolve } = Promise.withResolvers<WaitOutcome>();
    const waits = this.#waits[condition.kind];
    const end = (outcome: WaitOutcome) => {
      clock.clearTimeout(timer);
      signal?.removeEventListener('abort', expire);
      if (waits.delete(wait)) this.#places.giveBack(owner);
      resolve(outcome);
    };
    const expire = () => end('timeout');
    const wait: Wait = { ...condition, end };
    const timer = clock.setTimeout(expire, ms);
    signal?.addEventListener('abort', expire);
    waits.add(wait);
    for (const listener of this.#waitListeners) listener();
    return promise;
  }

  #conditionOf(
    followers: FollowerSelection,
    position: number,
    { kind = 'projection', strict = false }: FollowerOptions,
  ): Condition {
    return { kind, names: this.#namesOf(kind, followers), position, strict };
  }

  #namesOf(kind: FollowerKind, followers: FollowerSelection): ReadonlyArray<string> {
    if (followers === 'all') return this.#followers[kind];
    if ('names' in followers) return followers.names;
    const { types } = followers;
    const byType = this.#byType[kind];
    const [first = ''] = types;
    if (types.length === 1) return byType.get(first) ?? [];
    return [...new Set(types.flatMap((type) => byType.get(type) ?? []))];
  }

  #isMet({ kind, names, position, strict }: Condition): boolean {
    const positions = this.#positions[kind];
    return names.every((name) => {
      const followed = positions.get(name);
      if (followed === undefined) return !strict;
      return followed.position >= position || !(followed.live || strict);
    });
  }
}

/**
 * Waits until read models show everything up to a position. It waits also for one that has stopped or is being filled.
 * @returns false if the time is over first, or if the signal aborts
 */
export async function areShown(
  positions: Pick<Positions, 'passed'>,
  names: ReadonlyArray<string>,
  position: number,
  limits: Pick<PassedOptions, 'ms' | 'signal'>,
): Promise<boolean> {
  return (await positions.passed({ names }, position, { strict: true, ...limits })) === 'reached';
}

function namesByType(followers: ReadonlyArray<FollowerInfo>): ReadonlyMap<string, ReadonlyArray<string>> {
  const byType = new Map<string, string[]>();
  for (const { name, types } of followers) {
    for (const type of new Set(types)) {
      const names = byType.get(type) ?? [];
      names.push(name);
      byType.set(type, names);
    }
  }
  return byType;
}

/** The positions of the events of a request to which each process reacts. */
export type AwaitedReactions = ReadonlyMap<string, ReadonlyArray<number>>;

/**
 * Waits until processes have reacted to events, and all read models show what they appended because of them. A process
 * that reacts to its own appends is followed to the end.
 */
export async function effectsShown(
  positions: Positions,
  reactions: AwaitedReactions,
  ms: number,
): Promise<WaitOutcome> {
  if (reactions.size === 0) return 'reached';
  const deadline = clock.now() + ms;
  const effects = await followEffects(positions, reactions, deadline);
  if (effects === null) return 'timeout';
  return effects === 0 ? 'reached' : positions.passed('all', effects, { ms: deadline - clock.now() });
}

/** @returns the position of the last effect; 0 without one; null after the deadline */
async function followEffects(
  positions: Positions,
  reactions: AwaitedReactions,
  deadline: number,
): Promise<number | null> {
  const causes = new Set([...reactions.values()].flat());
  let awaited = new Map([...reactions].map(([name, of]) => [name, Math.max(...of)]));
  for (let last = 0; ; ) {
    const options: PassedOptions = { kind: 'process', ms: deadline - clock.now() };
    const waits = [...awaited].map(([name, position]) => positions.passed({ names: [name] }, position, options));
    if ((await Promise.all(waits)).includes('timeout')) return null;
    const effects = effectsOf(positions, awaited.keys(), causes);
    if (effects.length === 0) return last;
    last = effects.reduce((highest, position) => Math.max(highest, position), last);
    for (const effect of effects) causes.add(effect);
    awaited = new Map([...awaited.keys()].map((name) => [name, last]));
  }
}

/** The effects of processes, without those that are among these events already. */
function effectsOf(positions: Positions, names: Iterable<string>, causes: ReadonlySet<number>): ReadonlyArray<number> {
  const effects = new Set<number>();
  for (const name of names) {
    for (const cause of causes) {
      for (const effect of positions.effectsOf(name, cause)) if (!causes.has(effect)) effects.add(effect);
    }
  }
  return [...effects];
}

/**
 * True when processes are past the events to which they react and, as far as is known, all read models past the
 * effects. A process that has stopped or waits counts as past them, because no caller waits for it.
 */
export function effectsAreShown(positions: Positions, reactions: AwaitedReactions): boolean {
  return [...reactions].every(([name, causes]) =>
    causes.every(
      (cause) =>
        (positions.isHalted('process', name) ||
          positions.hasPassed({ names: [name] }, cause, { kind: 'process', strict: true })) &&
        [...positions.effectsOf(name, cause)].every((effect) => positions.hasPassed('all', effect, { strict: true })),
    ),
  );
}
