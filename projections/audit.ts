import { historyOfType, listedTypes } from '#domain/histories.ts';
import type { ResourceKind } from '#domain/history/record.ts';
import type { Tenant } from '#domain/shared/access.ts';
import { streamKeyOf } from '#domain/shared/entity.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { projection } from '#projection-engine/projection.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { tenantOf } from './document.ts';

/** The text of the entry is made from its stream. The document's order is the event's position. */
export interface AuditDocument extends Tenant {
  readonly stream: string;
  readonly revision: number;
  readonly type: string;
  readonly time: string;
  readonly actor: string;
  readonly kind: ResourceKind;
  readonly resource: string;
  /** The id of the flow or template for an entry about a version. */
  readonly streamKey: string;
}

type ListedEvents = Readonly<Record<string, JsonObject>>;

/**
 * An entry for each event that histories list, to find it by tenant, actor and resource. It contains no text of a
 * client, so an erasure need not change it.
 */
export const audit = projection<AuditDocument, ListedEvents>({
  name: 'audit',
  version: 2,
  keys: ({ position }) => [String(position)],
  on: Object.fromEntries(listedTypes.map((type) => [type, { create: entryOf }])),
  indexes: [['organizationId'], ['partnerId'], ['projectId'], ['actor'], ['streamKey']],
});

function entryOf({ type, data, stream, revision, metadata }: RecordedEvent): AuditDocument {
  const listed = historyOfType(type);
  if (listed === null) throw new Error(`the audit has no entry for ${type}`);
  const streamKey = streamKeyOf(stream);
  const { kind, id } = listed.resource(data, streamKey);
  const { time, actor } = metadata;
  return { ...tenantOf(metadata), stream, revision, type, time, actor: actor.keyId, kind, resource: id, streamKey };
}
