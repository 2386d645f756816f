import { eventually } from '#test/support/run/eventually.ts';
import type { Client } from '#test/support/service/client.ts';
import { entryOf, type WebhookReceiver } from '#test/support/webhooks/webhook-receiver.ts';
import { expectStatus } from '../support/expect.ts';

/** The progress of the delivery to an endpoint, as the API shows it. */
export interface ShownDelivery {
  readonly position: number;
  readonly openMessages: number;
  readonly failingSince: string | null;
  readonly beganAtEndAt: string | null;
}

/** Creates an endpoint that receives FlowCreated, or other types. @returns its id */
export async function newEndpoint(client: Client, url: string, eventTypes = ['FlowCreated']): Promise<string> {
  return expectStatus(await client.post<{ id: string }>('/v1/webhook-endpoints', { url, eventTypes }), 201).id;
}

/** Creates a flow. @returns its id */
export async function newFlow(client: Client, projectId: string, name = 'Hours'): Promise<string> {
  const reply = await client.post<{ id: string }>(`/v1/projects/${projectId}/flows`, { name, flowSchema: {} });
  return expectStatus(reply, 201).id;
}

/** Returns the ids of the resources whose events arrived at a path, once for each event. */
export function resourcesAt(receiver: WebhookReceiver, path: string): ReadonlyArray<string> {
  return receiver.at(path).map((message) => entryOf(message).resource.id);
}

/** Waits until an event of each of these resources has arrived at a path. */
export async function allReceived(
  receiver: WebhookReceiver,
  path: string,
  resources: ReadonlyArray<string>,
): Promise<void> {
  const isComplete = () => {
    const received = new Set(resourcesAt(receiver, path));
    return resources.every((id) => received.has(id));
  };
  await eventually(isComplete, `${resources.length} messages have come to ${path}`);
}

/** Waits until an endpoint's delivery satisfies a condition. */
export function shownDelivery(
  client: Client,
  endpointId: string,
  isAwaited: (delivery: ShownDelivery) => boolean,
): Promise<ShownDelivery> {
  return eventually(async () => {
    const reply = await client.get<{ delivery: ShownDelivery | null }>(`/v1/webhook-endpoints/${endpointId}`);
    const { delivery } = expectStatus(reply, 200);
    return delivery !== null && isAwaited(delivery) ? delivery : null;
  }, `the delivery to ${endpointId} is as it should be`);
}
