import type { DeliveryState } from './delivery-state.ts';

/** The stored states that belong to one log. */
export interface StoredDelivery {
  /** Every endpoint that was created up to this position has a state. Null if nothing is stored. */
  readonly followed: number | null;
  /** By the endpoint's id. */
  readonly states: ReadonlyMap<string, DeliveryState>;
}

/**
 * Stores the delivery state of each endpoint as one document. A state belongs to one log
 * (`src/event-store/log-identity.ts`) and is not valid for another. One contract suite
 * (`test/contract/delivery-state-store.ts`) tests every adapter.
 */
export interface DeliveryStateStore {
  /**
   * Reads all states for the node that delivers from now on. The store then refuses the writes of a node with an older
   * token.
   * @throws UnavailableError; FencedError if another node delivers under a newer lease
   */
  acquire(log: string): Promise<StoredDelivery>;
  /**
   * Stores the states of some endpoints and then the position up to which every endpoint has a state.
   * @throws UnavailableError; FencedError
   */
  write(log: string, states: ReadonlyMap<string, DeliveryState>, followed: number): Promise<void>;
  /** Removes the states of deleted endpoints. @throws UnavailableError; FencedError */
  remove(endpointIds: ReadonlyArray<string>): Promise<void>;
  /** Returns the state of an endpoint, of any node and any log; null if there is none. @throws UnavailableError */
  peek(endpointId: string): Promise<DeliveryState | null>;
  close(): Promise<void>;
}
