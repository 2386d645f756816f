import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import type { RecordStore } from '#records/record-store.ts';
import type { Json } from '#shared/json/json.ts';
import { DeliveryState } from './delivery-state.ts';

const kind = 'webhook-deliveries';

/** The key of the record with the followed position. No endpoint's id has this form. */
export const followedKey = '-followed';

const StoredState = t.type({ log: t.string, state: DeliveryState });
const StoredPosition = t.type({ log: t.string, position: t.number });

/** The stored states that belong to one log. */
export interface StoredDelivery {
  /** Every endpoint that was created up to this position has a state. Null if nothing is stored. */
  readonly followed: number | null;
  /** By the endpoint's id. */
  readonly states: ReadonlyMap<string, DeliveryState>;
}

/**
 * Stores the delivery state of each endpoint as one record. A state belongs to one log
 * (`src/event-store/log-identity.ts`) and is not valid for another. A state that this release cannot read counts as
 * lost.
 */
export class DeliveryStateStore {
  readonly #records: RecordStore;
  readonly #fence: number;

  /** @param fence the token of the lease under which this node delivers. Default 0, for a single node */
  constructor(records: RecordStore, fence = 0) {
    this.#records = records;
    this.#fence = fence;
  }

  /**
   * Reads all states for the node that delivers from now on. The store then refuses the writes of a node with an older
   * token.
   * @throws UnavailableError; FencedError if another node delivers under a newer lease
   */
  async acquire(log: string): Promise<StoredDelivery> {
    await this.#records.take(kind, this.#fence);
    const states = new Map<string, DeliveryState>();
    let followed: number | null = null;
    for (const [key, value] of await this.#records.all(kind)) {
      if (key === followedKey) followed = followedPosition(value, log);
      else {
        const stored = StoredState.decode(value);
        if (E.isRight(stored) && stored.right.log === log) states.set(key, stored.right.state);
      }
    }
    return { followed, states };
  }

  /**
   * Stores the states of some endpoints and then the position up to which every endpoint has a state.
   * @throws UnavailableError; FencedError
   */
  async write(log: string, states: ReadonlyMap<string, DeliveryState>, followed: number): Promise<void> {
    const fence = this.#fence;
    await this.#records.put(kind, new Map([...states].map(([id, state]) => [id, { log, state }])), { fence });
    await this.#records.put(kind, new Map([[followedKey, { log, position: followed }]]), { fence });
  }

  /** Removes the states of deleted endpoints. @throws UnavailableError; FencedError */
  remove(endpointIds: ReadonlyArray<string>): Promise<void> {
    return this.#records.delete(kind, endpointIds, { fence: this.#fence });
  }

  /** Returns the state of an endpoint, of any node and any log; null if there is none. @throws UnavailableError */
  async peek(endpointId: string): Promise<DeliveryState | null> {
    const stored = StoredState.decode(await this.#records.get(kind, endpointId));
    return E.isRight(stored) ? stored.right.state : null;
  }
}

function followedPosition(value: Json, log: string): number | null {
  const stored = StoredPosition.decode(value);
  return E.isRight(stored) && stored.right.log === log ? stored.right.position : null;
}
