import type { DeliveryState } from './delivery-state.ts';

/** What was stored of a log. */
export interface StoredDelivery {
  /** The position up to which every endpoint that was made has a state; null when nothing was stored. */
  readonly followed: number | null;
  /** By endpoint. */
  readonly states: ReadonlyMap<string, DeliveryState>;
}

/**
 * Where it is kept how far the delivery to each endpoint is: one document for each. What is kept is of one log
 * (`src/event-store/log-identity.ts`) and counts for no other. One contract suite (`test/contract/delivery-state-store.ts`)
 * holds every adapter to it.
 */
export interface DeliveryStateStore {
  /**
   * Everything, for the node that delivers from now on: the writes of a node with an older token are refused.
   * @throws UnavailableError; FencedError when another node delivers under a newer lease
   */
  takeUp(log: string): Promise<StoredDelivery>;
  /**
   * Stores the states of some endpoints, and the position up to which every endpoint has one: that one last.
   * @throws UnavailableError; FencedError
   */
  write(log: string, states: ReadonlyMap<string, DeliveryState>, followed: number): Promise<void>;
  /** Forgets endpoints that were deleted. @throws UnavailableError; FencedError */
  remove(endpointIds: ReadonlyArray<string>): Promise<void>;
  /** The state of an endpoint, whichever node delivers and whichever log it is of; null without one. @throws UnavailableError */
  peek(endpointId: string): Promise<DeliveryState | null>;
  close(): Promise<void>;
}
