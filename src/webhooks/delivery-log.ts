import type { DeliveryPage } from '#application/webhooks/webhook-reads.ts';
import type { WebhookDelivery } from '#domain/webhook-endpoint/delivery.ts';
import type { PageKey } from '#read-store/read-store.ts';

export interface LoggedDelivery extends WebhookDelivery {
  readonly endpointId: string;
  /** The id, which is unique among all tries. */
  readonly id: string;
}

/**
 * The tries of deliveries, which clients can list. It is not a read model, so a rebuild does not remove them. One
 * contract suite (`test/contract/delivery-log.ts`) tests every adapter.
 */
export interface DeliveryLog {
  /** Adds tries. One whose id is stored already is ignored. @throws UnavailableError */
  add(tries: ReadonlyArray<LoggedDelivery>): Promise<void>;
  /** A page of tries, the newest first. @param after the last place of the page before @throws UnavailableError */
  page(endpointId: string, limit: number, after: PageKey | null): Promise<DeliveryPage>;
  /** Removes some tries that ended before a time (RFC 3339). @returns whether more may be left @throws UnavailableError */
  removeBefore(time: string): Promise<boolean>;
  close(): Promise<void>;
}
