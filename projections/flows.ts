import type { FlowEvents } from '#domain/flow/events.ts';
import type { FlowRecord } from '#domain/flow/record.ts';
import { projection } from '#read-store/projection.ts';
import { changed, moved, streamKey, type TenantDocument, tenantOf } from './document.ts';

export interface FlowDocument extends TenantDocument<FlowRecord> {
  /** For the lookup of an agent profile's flows. */
  readonly agentProfileId: string | null;
}

/** Every flow that is there. Its revision moves with its versions too: one stream, one ETag. */
export const flows = projection<FlowDocument, FlowEvents>({
  name: 'flows',
  version: 1,
  keys: ({ stream }) => [streamKey(stream)],
  on: {
    FlowCreated: (_, { data, revision, metadata }) => ({
      ...tenantOf(metadata),
      revision,
      agentProfileId: data.agentProfileId,
      record: { ...data, createdAt: metadata.time, updatedAt: metadata.time },
    }),
    FlowRenamed: (document, event) => changed(document, event, { name: event.data.name }),
    FlowDescribed: (document, event) => changed(document, event, { description: event.data.description }),
    FlowTierChanged: (document, event) => changed(document, event, { tier: event.data.tier }),
    FlowAgentProfileAssigned: (document, event) => {
      const { agentProfileId } = event.data;
      const after = changed(document, event, { agentProfileId });
      return after && { ...after, agentProfileId };
    },
    FlowDeleted: () => null,
    FlowVersionCreated: moved,
    FlowVersionTagged: moved,
    FlowVersionActivated: moved,
    FlowVersionDeleted: moved,
  },
  indexes: [['projectId'], ['agentProfileId']],
});
