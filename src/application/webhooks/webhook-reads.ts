import type { WebhookDelivery } from '#domain/webhook-endpoint/delivery.ts';
import type { EndpointDelivery } from '#domain/webhook-endpoint/record.ts';
import type { PageKey } from '#read-store/read-store.ts';

/** A page of tries, newest first. */
export interface DeliveryPage {
  readonly deliveries: ReadonlyArray<WebhookDelivery>;
  /** Where the next page begins; null at the end. */
  readonly next: PageKey | null;
}

/** What queries may ask about the delivery of webhooks, whichever node delivers. */
export interface WebhookReads {
  /** How far the delivery to an endpoint is; null before it has begun. @throws UnavailableError */
  readonly deliveryOf: (endpointId: string) => Promise<EndpointDelivery | null>;
  /** The tries of the last 30 days. @throws UnavailableError */
  readonly deliveriesTo: (endpointId: string, limit: number, after: PageKey | null) => Promise<DeliveryPage>;
}
