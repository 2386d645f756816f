import type { DeliveryPage } from '#application/webhooks/webhook-reads.ts';
import type { WebhookDelivery } from '#domain/webhook-endpoint/delivery.ts';
import type { PageKey } from '#read-store/read-store.ts';

/** A try, as it is kept. */
export interface LoggedDelivery extends WebhookDelivery {
  readonly endpointId: string;
  /** Unlike that of any other try. */
  readonly id: string;
}

/**
 * Where tries are kept to be listed: beside the read models, so that a rebuild keeps them. One contract suite
 * (`test/contract/delivery-log.ts`) holds every adapter to it.
 */
export interface DeliveryLog {
  /** Keeps tries. One that is kept already stays. @throws UnavailableError */
  add(tries: ReadonlyArray<LoggedDelivery>): Promise<void>;
  /** The tries of an endpoint, newest first. @param after the place of the last one before @throws UnavailableError */
  page(endpointId: string, limit: number, after: PageKey | null): Promise<DeliveryPage>;
  /** Removes some of those that ended before a time (RFC 3339). @returns whether there may be more @throws UnavailableError */
  removeBefore(time: string): Promise<boolean>;
  close(): Promise<void>;
}

/** The place of a try in its list. */
export function placeOfTry({ time, id }: Pick<LoggedDelivery, 'time' | 'id'>): PageKey {
  return { order: Date.parse(time), id };
}
