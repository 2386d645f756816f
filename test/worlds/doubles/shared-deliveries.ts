import type { DeliveryPage } from '#application/webhooks/webhook-reads.ts';
import type { PageKey } from '#read-store/read-store.ts';
import type { DeliveryLog, LoggedDelivery } from '#webhooks/delivery-log.ts';

/** The tries to deliver webhooks that the nodes of a world share. */
export class SharedDeliveries implements DeliveryLog {
  readonly tries = new Map<string, LoggedDelivery>();

  async add(tries: ReadonlyArray<LoggedDelivery>): Promise<void> {
    for (const one of tries) if (!this.tries.has(one.id)) this.tries.set(one.id, one);
  }

  async page(endpointId: string, limit: number, after: PageKey | null): Promise<DeliveryPage> {
    const left = [...this.tries.values()]
      .filter((one) => one.endpointId === endpointId)
      .map((one) => ({ one, place: { order: Date.parse(one.time), id: one.id } }))
      .sort((a, b) => compare(b.place, a.place))
      .filter(({ place }) => after === null || compare(place, after) < 0);
    const page = left.slice(0, limit);
    const deliveries = page.map(({ one: { endpointId: _, id: __, ...delivery } }) => delivery);
    return { deliveries, next: left.length > limit ? (page.at(-1)?.place ?? null) : null };
  }

  async removeBefore(time: string): Promise<boolean> {
    for (const [id, one] of this.tries) if (one.time < time) this.tries.delete(id);
    return false;
  }

  async close(): Promise<void> {}
}

function compare(one: PageKey, other: PageKey): number {
  return one.order - other.order || (one.id < other.id ? -1 : Number(one.id > other.id));
}
