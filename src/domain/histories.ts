import { agentProfileHistory } from '#domain/agent-profile/history.ts';
import { apiKeyHistory, keyCutoffHistory } from '#domain/api-key/history.ts';
import { batchHistory } from '#domain/batch/history.ts';
import { fileHistory } from '#domain/file/history.ts';
import { flowHistory } from '#domain/flow/history.ts';
import { type AnyEntityHistory, type ListedEvent, unlisted } from '#domain/history/listed-event.ts';
import { instanceHistory } from '#domain/instance/history.ts';
import { eventControlHistory } from '#domain/operator/event-control.ts';
import { processHistory } from '#domain/operator/process-control.ts';
import { projectionHistory } from '#domain/operator/projection-control.ts';
import { organizationHistory } from '#domain/organization/history.ts';
import { phoneNumberClaimHistory, phoneNumberHistory } from '#domain/phone-number/history.ts';
import { projectHistory } from '#domain/project/history.ts';
import { storeHistory } from '#domain/store/history.ts';
import { templateHistory } from '#domain/template/history.ts';
import { webhookEndpointHistory } from '#domain/webhook-endpoint/history.ts';

export const entityHistories: ReadonlyArray<AnyEntityHistory> = [
  flowHistory,
  phoneNumberHistory,
  phoneNumberClaimHistory,
  agentProfileHistory,
  templateHistory,
  instanceHistory,
  storeHistory,
  fileHistory,
  batchHistory,
  organizationHistory,
  projectHistory,
  apiKeyHistory,
  keyCutoffHistory,
  webhookEndpointHistory,
  projectionHistory,
  processHistory,
  eventControlHistory,
];

/** Types without an entity, so no history lists them: remembered requests and metering. */
export const unlistedTypes: ReadonlyArray<string> = ['RequestAnswered', 'UsageDayClosed', 'UsageRecorded'];

// biome-ignore lint/suspicious/noExplicitAny: the table of an entity types what it says of each event.
type AnyListedEvent = ListedEvent<any, any>;

/** How the type is listed; null if no history lists it, or if this release does not know it. */
export function listedEvent({ events }: AnyEntityHistory, type: string): AnyListedEvent | null {
  const listed = Object.hasOwn(events, type) ? events[type] : undefined;
  return listed === undefined || listed === unlisted ? null : listed;
}

/** The types in histories and the audit, sorted by name. */
export const listedTypes: ReadonlyArray<string> = entityHistories
  .flatMap((history) => Object.keys(history.events).filter((type) => listedEvent(history, type) !== null))
  .toSorted();

const byCategory = new Map(entityHistories.map((history) => [history.entity.category, history]));

/** The history of a stream; null for a stream without an entity. */
export function historyOfStream(stream: string): AnyEntityHistory | null {
  return byCategory.get(stream.slice(0, stream.indexOf('-'))) ?? null;
}

const byType = new Map(
  entityHistories.flatMap((history) => Object.keys(history.events).map((type) => [type, listedEvent(history, type)])),
);

/** The history that lists a type; null if none does. */
export function historyOfType(type: string): AnyListedEvent | null {
  return byType.get(type) ?? null;
}
