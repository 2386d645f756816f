import type { WebhookDelivery } from '#domain/webhook-endpoint/delivery.ts';
import type { EndpointDelivery } from '#domain/webhook-endpoint/record.ts';
import type { PageKey } from '#read-store/read-store.ts';

/** A page of deliveries, newest first. */
export interface DeliveryPage {
  readonly deliveries: ReadonlyArray<WebhookDelivery>;
  /** Null at the end. */
  readonly next: PageKey | null;
}

/** What every node can read about webhooks. */
export interface WebhookReads {
  /** The state of an endpoint's delivery; null before it has begun. @throws UnavailableError */
  readonly deliveryOf: (endpointId: string) => Promise<EndpointDelivery | null>;
  /** Deliveries of the last 30 days. @throws UnavailableError */
  readonly deliveriesTo: (endpointId: string, limit: number, after: PageKey | null) => Promise<DeliveryPage>;
}
