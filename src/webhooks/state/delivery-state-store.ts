import type { ReadOfLog } from '#domain/shared/log-mark.ts';
import { recordParts } from '#records/record-parts.ts';
import type { RecordKind, RecordRange, RecordStore } from '#records/record-store.ts';
import { clock } from '#shared/clock.ts';
import type { Json } from '#shared/json/json.ts';
import {
  type DeliveryState,
  decodeFollowed,
  decodeMessage,
  decodeState,
  endpointOf,
  type FollowedLog,
  followedKey,
  messageKey,
  messagesKind,
  messagesTo,
  type OpenMessage,
  statesKind,
} from './delivery-state.ts';

/** Stored states of deliveries, which belong to one log. */
export interface StoredDelivery {
  /** The position up to which every created endpoint has a state. Null if nothing is stored. */
  readonly followed: number | null;
  /** What was read of the log up to there. */
  readonly read?: ReadOfLog;
  /** The states by the endpoint's id. */
  readonly states: ReadonlyMap<string, DeliveryState>;
}

/** What is stored of an endpoint's delivery. In `open` are only the messages that differ from the stored ones. */
export interface DeliveryChange extends DeliveryState {
  /** Positions of stored messages that are no longer open. */
  readonly closed?: ReadonlyArray<number>;
}

type Changes = ReadonlyMap<string, DeliveryChange>;

/** Maximum number of states or messages that are read or removed together. */
const maxRecords = 1_000;

/**
 * The delivery state of each endpoint is one record, and each of its open messages as another one. A state belongs to
 * one log (`src/event-store/log-identity.ts`) and is not valid for another. A state that this release cannot read
 * counts as lost.
 */
export class DeliveryStateStore {
  readonly #records: RecordStore;
  readonly #fence: number;

  /** @param fence token of the lease under which this node delivers. Default 0, for a single node */
  constructor(records: RecordStore, fence = 0) {
    this.#records = records;
    this.#fence = fence;
  }

  /**
   * Takes the states for the node that delivers from now on. The store then refuses the writes of a node with an older
   * token.
   * @throws UnavailableError; FencedError if another node delivers under a newer lease
   */
  async acquire(log: string): Promise<StoredDelivery> {
    for (const kind of [statesKind, messagesKind] as const) await this.#records.take(kind, this.#fence);
    const states = new Map<string, DeliveryState>();
    let followed: FollowedLog | null = null;
    for await (const [key, value] of this.#read(statesKind, { limit: maxRecords })) {
      const stored = decodeState(value);
      if (key === followedKey) followed = decodeFollowed(value, log);
      else if (stored?.log === log) states.set(key, { ...stored.state, open: [] });
    }
    const { position = null, ...read } = followed ?? {};
    return { followed: position, ...read, states: await this.#withMessages(log, states) };
  }

  /**
   * Writes first the changes of some endpoints, then the position up to which every endpoint has a state. New messages
   * are stored before the position that passes over them, and removed after it: a crash at any moment loses none.
   * @param read what was read of the log up to that position
   * @throws UnavailableError; FencedError
   */
  async write(log: string, changes: Changes, followed: number, read?: ReadOfLog): Promise<void> {
    await this.#put(log, changes);
    const record = { log, position: followed, ...(read && { read }) };
    await this.#records.put(statesKind, new Map([[followedKey, record]]), { fence: this.#fence });
    await this.#deleteMessages(closedKeys(changes));
  }

  /** Removes the states of deleted endpoints, and their open messages. @throws UnavailableError; FencedError */
  async remove(endpointIds: ReadonlyArray<string>): Promise<void> {
    await this.#records.delete(statesKind, endpointIds, { fence: this.#fence });
    for (const id of endpointIds) {
      const keys: string[] = [];
      for await (const [key] of this.#read(messagesKind, { ...messagesTo(id), limit: maxRecords })) keys.push(key);
      await this.#deleteMessages(keys);
    }
  }

  /** Reads the state of any node and any log. @throws UnavailableError */
  async peek(endpointId: string): Promise<DeliveryState | null> {
    const stored = decodeState(await this.#records.get(statesKind, endpointId));
    if (stored === null) return null;
    const { log, state } = stored;
    const open: OpenMessage[] = [];
    for await (const [, value] of this.#read(messagesKind, { ...messagesTo(endpointId), limit: maxRecords })) {
      const message = decodeMessage(value);
      if (message?.log === log) open.push(message.message);
    }
    return { ...state, open: open.sort(byPosition) };
  }

  async #put(log: string, changes: Changes): Promise<void> {
    const options = { fence: this.#fence };
    for (const part of recordParts(messageRecords(log, changes))) await this.#records.put(messagesKind, part, options);
    for (const part of recordParts(stateRecords(log, changes))) await this.#records.put(statesKind, part, options);
  }

  /**
   * A state of which a message cannot be read is lost. Messages without a state are left from a crash, and are removed.
   */
  async #withMessages(
    log: string,
    states: ReadonlyMap<string, DeliveryState>,
  ): Promise<ReadonlyMap<string, DeliveryState>> {
    const open = new Map([...states.keys()].map((id): [string, OpenMessage[]] => [id, []]));
    const lost = new Set<string>();
    const stateless: string[] = [];
    for await (const [key, value] of this.#read(messagesKind, { limit: maxRecords })) {
      const id = endpointOf(key);
      const stored = decodeMessage(value);
      if (stored === null) lost.add(id);
      else if (stored.log === log && open.has(id)) open.get(id)?.push(stored.message);
      else if (stored.log === log) stateless.push(key);
    }
    await this.#deleteMessages(stateless);
    await this.remove([...lost]);
    return new Map(
      [...states]
        .filter(([id]) => !lost.has(id))
        .map(([id, state]) => [id, { ...state, open: (open.get(id) ?? []).sort(byPosition) }]),
    );
  }

  async #deleteMessages(keys: ReadonlyArray<string>): Promise<void> {
    for (let from = 0; from < keys.length; from += maxRecords)
      await this.#records.delete(messagesKind, keys.slice(from, from + maxRecords), { fence: this.#fence });
  }

  /** Reads page by page, with a turn of the event loop after each. */
  async *#read(kind: RecordKind, range: RecordRange): AsyncGenerator<readonly [string, Json], void, void> {
    for (let { after } = range; ; ) {
      const page = await this.#records.page(kind, { ...range, ...(after !== undefined && { after }) });
      yield* page;
      if (page.size < range.limit) return;
      after = [...page.keys()].at(-1);
      await clock.nextTurn();
    }
  }
}

function* messageRecords(log: string, changes: Changes): Generator<readonly [string, Json]> {
  for (const [id, { open }] of changes)
    for (const message of open) yield [messageKey(id, message.position), { log, message }];
}

function* stateRecords(log: string, changes: Changes): Generator<readonly [string, Json]> {
  for (const [id, { open: _, closed: __, ...state }] of changes) yield [id, { log, state }];
}

function closedKeys(changes: Changes): ReadonlyArray<string> {
  return [...changes].flatMap(([id, { closed = [] }]) => closed.map((position) => messageKey(id, position)));
}

function byPosition(one: OpenMessage, other: OpenMessage): number {
  return one.position - other.position;
}
