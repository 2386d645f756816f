import type { WebhookDelivery } from '#domain/webhook-endpoint/delivery.ts';
import type { EndpointDelivery } from '#domain/webhook-endpoint/record.ts';
import type { PageKey } from '#read-store/read-store.ts';

/** A page of tries, newest first. */
export interface DeliveryPage {
  readonly deliveries: ReadonlyArray<WebhookDelivery>;
  /** The place after which the next page begins; null at the end. */
  readonly next: PageKey | null;
}

/** The data about the delivery of webhooks that queries may read, on any node. */
export interface WebhookReads {
  /** The progress of the delivery to an endpoint; null before it has begun. @throws UnavailableError */
  readonly deliveryOf: (endpointId: string) => Promise<EndpointDelivery | null>;
  /** The tries of the last 30 days. @throws UnavailableError */
  readonly deliveriesTo: (endpointId: string, limit: number, after: PageKey | null) => Promise<DeliveryPage>;
}
