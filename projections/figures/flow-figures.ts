import { type FlowEvents, flowFieldEvents } from '#domain/flow/events.ts';
import type { Tenant } from '#domain/shared/access.ts';
import { streamKeyOf } from '#domain/shared/entity.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { handledAlike, ignored, projection } from '#projection-engine/projection.ts';
import { tenantOf } from '../document.ts';

export interface VersionFigures {
  readonly id: string;
  readonly number: number;
  readonly tag: string;
  readonly createdAt: string;
}

/** If an older version was activated again, only its id is known: see `flow-versions`. */
export type ActiveVersion = { readonly since: string } & (VersionFigures | { readonly id: string });

/** A flow with the figures of its versions. */
export interface FlowFiguresDocument extends Tenant {
  readonly name: string;
  readonly versions: number;
  readonly deletedVersions: number;
  readonly activations: number;
  /** The newest version, also if it is deleted. */
  readonly newest: VersionFigures | null;
  readonly active: ActiveVersion | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** Counts how many versions each existing flow has, and how often one was activated. */
export const flowFigures = projection<FlowFiguresDocument, FlowEvents>({
  name: 'flow-figures',
  version: 2,
  keys: ({ stream }) => [streamKeyOf(stream)],
  on: {
    FlowCreated: {
      create: ({ data, metadata }) => ({
        ...tenantOf(metadata),
        name: data.name,
        versions: 0,
        deletedVersions: 0,
        activations: 0,
        newest: null,
        active: null,
        createdAt: metadata.time,
        updatedAt: metadata.time,
      }),
    },
    ...handledAlike(flowFieldEvents, (flow: FlowFiguresDocument | null, { metadata }: RecordedEvent) =>
      changed(flow, metadata.time, {}),
    ),
    FlowRenamed: (flow, { data, metadata }) => changed(flow, metadata.time, { name: data.name }),
    FlowAgentProfileAssigned: ignored,
    FlowDeleted: () => null,
    FlowVersionCreated: (flow, { data, metadata: { time } }) =>
      flow &&
      changed(flow, time, {
        versions: flow.versions + 1,
        newest: { id: data.id, number: data.version, tag: data.tag, createdAt: time },
      }),
    FlowVersionTagged: (flow, { data: { id, tag }, metadata: { time } }) =>
      flow && changed(flow, time, { newest: tagged(flow.newest, id, tag), active: tagged(flow.active, id, tag) }),
    FlowVersionActivated: (flow, { data: { id }, metadata: { time } }) =>
      flow &&
      changed(flow, time, {
        activations: flow.activations + 1,
        active: { ...(flow.newest?.id === id ? flow.newest : { id }), since: time },
      }),
    FlowVersionDeleted: (flow, { metadata: { time } }) =>
      flow && changed(flow, time, { versions: flow.versions - 1, deletedVersions: flow.deletedVersions + 1 }),
  },
  indexes: [['organizationId'], ['partnerId'], ['projectId']],
});

function changed(
  flow: FlowFiguresDocument | null,
  time: string,
  change: Partial<FlowFiguresDocument>,
): FlowFiguresDocument | null {
  return flow && { ...flow, ...change, updatedAt: time };
}

function tagged<Version extends ActiveVersion | VersionFigures>(
  version: Version | null,
  id: string,
  tag: string,
): Version | null {
  return version?.id === id && 'tag' in version ? { ...version, tag } : version;
}
