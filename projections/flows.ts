import type { FlowEvents } from '#domain/flow/events.ts';
import type { FlowRecord } from '#domain/flow/record.ts';
import { streamKeyOf } from '#domain/shared/entity.ts';
import { projection } from '#projection-engine/projection.ts';
import { changed, moved, type TenantDocument, tenantOf } from './document.ts';

export interface FlowDocument extends TenantDocument<FlowRecord> {
  /** Finds an agent profile's flows. */
  readonly agentProfileId: string | null;
  /** An instance compares it to find out whether its flow was changed by hand. */
  readonly activeVersionId: string | null;
}

/** The revision also changes with the flow's versions, because they share a stream and an ETag. */
export const flows = projection<FlowDocument, FlowEvents>({
  name: 'flows',
  version: 2,
  keys: ({ stream }) => [streamKeyOf(stream)],
  on: {
    FlowCreated: {
      create: ({ data, revision, metadata }) => ({
        ...tenantOf(metadata),
        revision,
        agentProfileId: data.agentProfileId,
        activeVersionId: null,
        record: { ...data, createdAt: metadata.time, updatedAt: metadata.time },
      }),
    },
    FlowRenamed: (document, event) => changed(document, event, { name: event.data.name }),
    FlowDescribed: (document, event) => changed(document, event, { description: event.data.description }),
    FlowTypeChanged: (document, event) => changed(document, event, { type: event.data.type }),
    FlowTierChanged: (document, event) => changed(document, event, { tier: event.data.tier }),
    FlowAgentProfileAssigned: (document, event) => {
      const { agentProfileId } = event.data;
      const after = changed(document, event, { agentProfileId });
      return after && { ...after, agentProfileId };
    },
    FlowDeleted: () => null,
    FlowVersionCreated: moved,
    FlowVersionTagged: moved,
    FlowVersionActivated: (document, event) => {
      const after = moved(document, event);
      return after && { ...after, activeVersionId: event.data.id };
    },
    FlowVersionDeleted: moved,
  },
  holdsETags: true,
  indexes: [['projectId'], ['agentProfileId'], ['projectId', 'name'], ['projectId', 'agentProfileId']],
});
