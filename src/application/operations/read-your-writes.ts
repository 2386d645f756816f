import { type Caller, canAccess, type Tenant } from '#domain/shared/access.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import {
  type AwaitedReactions,
  effectsAreShown,
  effectsShown,
  type Positions,
  type WaitOutcome,
} from '#positions/positions.ts';
import { clock } from '#shared/clock.ts';

/** A process that handles events in order, so that an answer waits for its effects. */
export interface ReactingProcess {
  readonly name: string;
  readonly types: ReadonlyArray<string>;
  /** True if it handles the event, as far as the event alone shows. It does not throw. */
  readonly handles: (event: RecordedEvent) => boolean;
}

export interface ReadYourWritesOptions {
  readonly positions: Positions;
  readonly processes: ReadonlyArray<ReactingProcess>;
  readonly pending: Pick<PendingResources, 'add'>;
  readonly timeoutMs: number;
}

/**
 * Read your own write: holds an answer until the read models show the events that its request appended, and what
 * processes appended because of these events. After a timeout the answer is sent anyway. It waits neither for a stopped
 * read model nor for a stopped or waiting process. What the read models do not show yet is left as pending.
 */
export class ReadYourWrites {
  readonly #options: ReadYourWritesOptions;
  readonly #byType = new Map<string, ReactingProcess[]>();

  constructor(options: ReadYourWritesOptions) {
    this.#options = options;
    for (const process of options.processes) {
      for (const type of process.types) this.#byType.set(type, [...(this.#byType.get(type) ?? []), process]);
    }
  }

  /**
   * @param written returns the resources that the request wrote. If they are not shown, a read of them waits in its
   * turn.
   */
  async wait(appended: ReadonlyArray<RecordedEvent>, written: () => WrittenResources): Promise<void> {
    const position = appended.at(-1)?.position;
    if (position === undefined) return;
    const { positions, pending, timeoutMs } = this.#options;
    const reactions = this.#reactionsTo(appended);
    const types = [...new Set(appended.map(({ type }) => type))];
    const outcomes = await Promise.all([
      positions.passed({ types }, position, { ms: timeoutMs }),
      effectsShown(positions, reactions, timeoutMs),
    ]);
    // No answer waits for a read model that has stopped, or whose position is unknown. A read of it must not find nothing.
    const isShown = positions.hasPassed({ types }, position, { strict: true });
    if (!isShown || outcomes.includes('timeout')) pending.add({ ...written(), types, position, reactions });
  }

  #reactionsTo(appended: ReadonlyArray<RecordedEvent>): AwaitedReactions {
    const reactions = new Map<string, number[]>();
    for (const event of appended) {
      for (const { name, handles } of this.#byType.get(event.type) ?? []) {
        if (handles(event)) reactions.set(name, [...(reactions.get(name) ?? []), event.position]);
      }
    }
    return reactions;
  }
}

export interface WrittenResources {
  readonly ids: Iterable<string>;
  /** The tenant of the stream; null if the stream has no event. */
  readonly tenant: Tenant | null;
}

interface PendingWrite {
  readonly tenant: Tenant;
  /** The types of the events. Read models of other events have nothing to show, except for reactions. */
  readonly types: ReadonlyArray<string>;
  readonly typesKey: string;
  /** The position of the last event of the request. */
  readonly position: number;
  readonly reactions: AwaitedReactions;
}

/** `isLate`: the read model does not show the resource in time, so the result may be wrong. */
interface ReadResult<Result> {
  readonly result: Result;
  readonly isLate: boolean;
}

const defaultMaxIds = 10_000;
/** How long a read waits for a resource. */
const defaultTimeoutMs = 1_000;

/**
 * The resources that this node has written and answered before the read models showed them, until they do. A read that
 * does not find such a resource waits, instead of answering that it does not exist. Any other unknown id costs one
 * look-up in a map. When there are too many, the oldest ids of the project that has most are forgotten.
 */
export class PendingResources {
  readonly #positions: Positions;
  readonly #maxIds: number;
  readonly #timeoutMs: number;
  readonly #writes = new Map<string, PendingWrite>();
  /** The pending ids by project, or by organization for resources of a whole one; the newest last. */
  readonly #idsOf = new Map<string, Set<string>>();

  constructor(positions: Positions, { maxIds = defaultMaxIds, timeoutMs = defaultTimeoutMs } = {}) {
    this.#positions = positions;
    this.#maxIds = maxIds;
    this.#timeoutMs = timeoutMs;
    positions.onUpdate(() => this.#removeShown());
  }

  get size(): number {
    return this.#writes.size;
  }

  /** Adds resources that are pending until the read models show them. */
  add({ ids, tenant, types, position, reactions }: WrittenResources & Omit<PendingWrite, 'tenant' | 'typesKey'>): void {
    if (tenant === null) return;
    const write = { tenant, types, typesKey: types.join(), position, reactions };
    for (const id of ids) this.#remember(id, write);
    while (this.#writes.size > this.#maxIds) this.#forgetOldest();
  }

  /** Begins reads of resources that the caller has access to. @param ids in the request's path */
  beginReads(ids: Iterable<string>, caller: Caller): RequestReads {
    const write = this.#writes.size === 0 ? null : this.#find(ids, caller);
    if (write === null) return readsNothingPending;
    return new ReadsOfPending(this.#positions, write, this.#timeoutMs);
  }

  #find(ids: Iterable<string>, caller: Caller): PendingWrite | null {
    for (const id of ids) {
      const write = this.#writes.get(id);
      if (write !== undefined && canAccess(caller, write.tenant)) return write;
    }
    return null;
  }

  #removeShown(): void {
    const late = new Set<string>();
    for (const [id, { types, typesKey, position, reactions }] of this.#writes) {
      // Writes of the same events are about in the order of their positions. A later update finds those that are not.
      if (late.has(typesKey)) continue;
      if (!this.#positions.hasPassed({ types }, position, { strict: true })) late.add(typesKey);
      else if (effectsAreShown(this.#positions, reactions)) this.#forget(id);
    }
  }

  #remember(id: string, write: PendingWrite): void {
    this.#forget(id);
    this.#writes.set(id, write);
    const owner = ownerOf(write.tenant);
    const ids = this.#idsOf.get(owner) ?? new Set();
    this.#idsOf.set(owner, ids.add(id));
  }

  #forget(id: string): void {
    const write = this.#writes.get(id);
    if (write === undefined) return;
    this.#writes.delete(id);
    const owner = ownerOf(write.tenant);
    const ids = this.#idsOf.get(owner);
    ids?.delete(id);
    if (ids?.size === 0) this.#idsOf.delete(owner);
  }

  #forgetOldest(): void {
    let most: ReadonlySet<string> = new Set();
    for (const ids of this.#idsOf.values()) if (ids.size > most.size) most = ids;
    const [oldest] = most;
    if (oldest !== undefined) this.#forget(oldest);
  }
}

export interface RequestReads {
  /**
   * Reads again when the read models show a pending resource that the first read did not find. It does not wait for a
   * read model that has stopped or is being filled.
   */
  readonly read: <Result>(
    readModels: ReadonlyArray<string>,
    read: () => Promise<Result>,
    isMissing: (result: Result) => boolean,
  ) => Promise<ReadResult<Result>>;
}

const readsNothingPending: RequestReads = {
  read: async (_, read) => ({ result: await read(), isLate: false }),
};

/**
 * The reads of a request whose resource was pending when it began. It may be shown and forgotten meanwhile. All of them
 * wait until one deadline, which begins with the first wait: reads that take long leave them their time.
 */
class ReadsOfPending implements RequestReads {
  readonly #positions: Positions;
  readonly #write: PendingWrite;
  readonly #timeoutMs: number;
  /** When the waits end; null before the first one. */
  #deadline: number | null = null;

  constructor(positions: Positions, write: PendingWrite, timeoutMs: number) {
    this.#positions = positions;
    this.#write = write;
    this.#timeoutMs = timeoutMs;
  }

  async read<Result>(
    readModels: ReadonlyArray<string>,
    read: () => Promise<Result>,
    isMissing: (result: Result) => boolean,
  ): Promise<ReadResult<Result>> {
    let result = await read();
    for (const wait of [() => this.#modelsShow(readModels), () => this.#effectsShow()]) {
      if (!isMissing(result)) break;
      if ((await wait()) === 'timeout') return { result, isLate: true };
      result = await read();
    }
    return { result, isLate: false };
  }

  #modelsShow(names: ReadonlyArray<string>): Promise<WaitOutcome> {
    const isHalted = names.some((name) => this.#positions.isHalted('projection', name));
    const ms = isHalted ? 0 : this.#remainingMs();
    return this.#positions.passed({ names }, this.#write.position, { strict: true, ms });
  }

  #effectsShow(): Promise<WaitOutcome> {
    return effectsShown(this.#positions, this.#write.reactions, this.#remainingMs());
  }

  #remainingMs(): number {
    this.#deadline ??= clock.now() + this.#timeoutMs;
    return this.#deadline - clock.now();
  }
}

const ownerOf = ({ projectId, organizationId }: Tenant) => projectId ?? organizationId;
