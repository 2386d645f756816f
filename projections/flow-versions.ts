import { type FlowEvents, flowFieldEvents } from '#domain/flow/events.ts';
import type { FlowVersionRecord } from '#domain/flow/record.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { handledAlike, ignored, projection } from '#projection-engine/projection.ts';
import type { ClaimingDocument } from '#read-store/stored-document.ts';
import { type TenantDocument, tenantOf } from './document.ts';

export interface FlowVersionDocument extends Omit<TenantDocument<FlowVersionRecord>, 'revision'>, ClaimingDocument {
  /** The id of its flow if it is the active version. */
  readonly claims: string;
  readonly flowId: string;
}

/** The versions of existing flows. Their ETag is the flow's. */
export const flowVersions = projection<FlowVersionDocument, FlowEvents>({
  name: 'flow-versions',
  version: 2,
  keys: (event) => {
    if (event.type !== 'FlowVersionActivated' || event.data.replacedVersionId === null) return [event.data.id];
    return [event.data.id, event.data.replacedVersionId];
  },
  on: {
    ...handledAlike(flowFieldEvents, ignored),
    FlowVersionCreated: {
      create: ({ data, metadata }) => ({
        claims: '',
        ...tenantOf(metadata),
        flowId: data.flowId,
        record: { ...data, isActive: false, createdAt: metadata.time, updatedAt: metadata.time },
      }),
    },
    FlowVersionTagged: (document, event) => changed(document, event, { tag: event.data.tag }),
    FlowVersionActivated: (document, event, id) => {
      const isActive = id === event.data.id;
      const after = changed(document, event, { isActive });
      return after && { ...after, claims: isActive ? after.flowId : '' };
    },
    FlowVersionDeleted: () => null,
    FlowDeleted: { removeWhere: ({ data }) => ({ flowId: data.id }) },
    FlowCreated: ignored,
    FlowAgentProfileAssigned: ignored,
  },
  indexes: [['flowId']],
  disclaim: (document) => ({ ...document, claims: '', record: { ...document.record, isActive: false } }),
  isWrittenFirst: ({ record }) => record.isActive,
});

function changed(
  document: FlowVersionDocument | null,
  { metadata }: Pick<RecordedEvent, 'metadata'>,
  change: Partial<FlowVersionRecord>,
): FlowVersionDocument | null {
  return document && { ...document, record: { ...document.record, ...change, updatedAt: metadata.time } };
}
