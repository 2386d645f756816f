import type { WebhookDelivery } from '#domain/webhook-endpoint/delivery.ts';
import type { EndpointDelivery } from '#domain/webhook-endpoint/record.ts';
import type { PageKey } from '#read-store/read-store.ts';

/** Newest first. */
export interface DeliveryPage {
  readonly deliveries: ReadonlyArray<WebhookDelivery>;
  /** Null at the end. */
  readonly next: PageKey | null;
}

/** Every node can read it. */
export interface WebhookReads {
  /** Null before the delivery has begun. @throws UnavailableError */
  readonly deliveryOf: (endpointId: string) => Promise<EndpointDelivery | null>;
  /** Of the last 30 days. @throws UnavailableError */
  readonly deliveriesTo: (endpointId: string, limit: number, after: PageKey | null) => Promise<DeliveryPage>;
}
