import type { DeliveryPage } from '#application/webhooks/webhook-reads.ts';
import type { WebhookDelivery } from '#domain/webhook-endpoint/delivery.ts';
import type { PageKey } from '#read-store/read-store.ts';

export interface LoggedDelivery extends WebhookDelivery {
  readonly endpointId: string;
  /** Unique among all tries. */
  readonly id: string;
}

/**
 * Clients can list these tries. It is not a read model, so a rebuild does not remove them. One contract suite
 * (`test/contract/delivery-log.ts`) tests every adapter.
 */
export interface DeliveryLog {
  /** A try whose id is stored already is ignored. @throws UnavailableError */
  add(tries: ReadonlyArray<LoggedDelivery>): Promise<void>;
  /** The newest first. @param after the last place of the page before @throws UnavailableError */
  page(endpointId: string, limit: number, after: PageKey | null): Promise<DeliveryPage>;
  /** Removes some tries that ended before a time (RFC 3339). @returns whether more may be left @throws UnavailableError */
  removeBefore(time: string): Promise<boolean>;
  close(): Promise<void>;
}
