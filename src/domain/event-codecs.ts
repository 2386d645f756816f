import * as t from 'io-ts';
import { agentProfileEvents } from '#domain/agent-profile/events.ts';
import { keyCutoffEvents } from '#domain/api-key/api-key.ts';
import { apiKeyEvents } from '#domain/api-key/events.ts';
import { batchEvents } from '#domain/batch/events.ts';
import { fileEvents } from '#domain/file/events.ts';
import { flowEvents } from '#domain/flow/events.ts';
import { instanceEvents } from '#domain/instance/events.ts';
import { eventControlEvents } from '#domain/operator/event-control.ts';
import { processEvents } from '#domain/operator/process-control.ts';
import { projectionEvents } from '#domain/operator/projection-control.ts';
import { organizationEvents } from '#domain/organization/organization.ts';
import { phoneNumberClaimEvents, phoneNumberEvents } from '#domain/phone-number/events.ts';
import { projectEvents } from '#domain/project/project.ts';
import { storeEvents } from '#domain/store/store.ts';
import { templateEvents } from '#domain/template/events.ts';
import { usageEvents } from '#domain/usage/events.ts';
import { webhookEndpointEvents } from '#domain/webhook-endpoint/events.ts';
import { nullable } from '#shared/codecs/choice.ts';

/** The codec of the newest shape of each event type. This release does not know other types. */
export const eventCodecs: Readonly<Record<string, t.Mixed>> = {
  ...agentProfileEvents,
  ...apiKeyEvents,
  ...batchEvents,
  ...eventControlEvents,
  ...fileEvents,
  ...flowEvents,
  ...keyCutoffEvents,
  ...instanceEvents,
  ...organizationEvents,
  ...phoneNumberClaimEvents,
  ...phoneNumberEvents,
  ...processEvents,
  ...projectEvents,
  ...projectionEvents,
  ...storeEvents,
  ...templateEvents,
  ...usageEvents,
  ...webhookEndpointEvents,
  RequestAnswered: t.type({}),
};

/** True if this release knows the type. A newer release wrote any other type. */
export function isKnownEventType(type: string): boolean {
  return Object.hasOwn(eventCodecs, type);
}

/** The metadata of events. Metering has no hash chain, so its events lack `prevHash` and `hash`. */
export const eventMetadataCodec = t.intersection([
  t.type({
    $correlationId: t.string,
    $causationId: t.string,
    actor: t.intersection([t.type({ keyId: t.string, keyType: t.string }), t.partial({ onBehalfOf: t.string })]),
    organizationId: t.string,
    projectId: nullable(t.string),
    partnerId: nullable(t.string),
    requestId: t.string,
    time: t.string,
    schemaVersion: t.number,
  }),
  t.partial({
    idempotency: t.type({ key: t.string, body: t.string }),
    prevHash: nullable(t.string),
    hash: t.string,
  }),
]);
