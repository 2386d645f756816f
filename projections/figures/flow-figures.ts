import type { FlowEvents } from '#domain/flow/events.ts';
import { streamKeyOf } from '#domain/shared/entity.ts';
import type { Tenant } from '#domain/shared/tenancy.ts';
import { ignored, projection, type RecordedEventOf } from '#projection-engine/projection.ts';
import { tenantOf } from '../document.ts';

/** What figures say of a version. */
export interface VersionFigures {
  readonly id: string;
  readonly number: number;
  readonly tag: string;
  readonly createdAt: string;
}

/** A flow that exists, with its versions in figures. */
export interface FlowFiguresDocument extends Tenant {
  readonly kind: 'flow';
  readonly name: string;
  readonly versions: number;
  readonly deletedVersions: number;
  readonly activations: number;
  /** The newest version, deleted or not. */
  readonly newest: VersionFigures | null;
  readonly active: (VersionFigures & { readonly since: string }) | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** A version: the figures of its flow name it when it is made the active one. */
interface VersionDocument extends VersionFigures {
  readonly kind: 'version';
  /** It is removed with its flow. */
  readonly flowId: string;
}

type FiguresDocument = FlowFiguresDocument | VersionDocument;
type Event<Type extends keyof FlowEvents> = RecordedEventOf<Pick<FlowEvents, Type>>;

/** Every flow that exists: how many versions it has, and how often one was made active. */
export const flowFigures = projection<FiguresDocument & { readonly flowId?: string } & Partial<Tenant>, FlowEvents>({
  name: 'flow-figures',
  version: 1,
  keys: ({ stream, type, data }) => {
    const flowId = streamKeyOf(stream);
    return type.startsWith('FlowVersion') ? [flowId, data.id] : [flowId];
  },
  on: {
    FlowCreated: {
      create: ({ data, metadata }) => ({
        kind: 'flow',
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
    FlowRenamed: (document, { data, metadata }) => changed(document, metadata.time, () => ({ name: data.name })),
    FlowDescribed: (document, { metadata }) => changed(document, metadata.time, () => ({})),
    FlowTypeChanged: (document, { metadata }) => changed(document, metadata.time, () => ({})),
    FlowTierChanged: (document, { metadata }) => changed(document, metadata.time, () => ({})),
    FlowAgentProfileAssigned: ignored,
    FlowDeleted: { removeWhere: ({ data }) => ({ flowId: data.id }), handle: () => null },
    FlowVersionCreated: {
      introduces: ({ data }) => [data.id],
      handle: (document, { data, metadata: { time } }, key) => {
        const version = { id: data.id, number: data.version, tag: data.tag, createdAt: time };
        if (key === data.id) return { kind: 'version', flowId: data.flowId, ...version };
        return changed(document, time, ({ versions }) => ({ versions: versions + 1, newest: version }));
      },
    },
    FlowVersionTagged: (document, event, key) => {
      const { data, metadata } = event;
      if (key === data.id) return document && { ...document, tag: data.tag };
      return changed(document, metadata.time, (flow) => tagged(flow, event));
    },
    FlowVersionActivated: (document, { data, metadata: { time } }, key, documentBefore) => {
      if (key === data.id) return document;
      const version = documentBefore(data.id);
      return changed(document, time, ({ activations }) => ({
        activations: activations + 1,
        active: version?.kind === 'version' ? activeVersion(version, time) : null,
      }));
    },
    FlowVersionDeleted: (document, { data, metadata }, key) => {
      if (key === data.id) return null;
      return changed(document, metadata.time, ({ versions, deletedVersions }) => ({
        versions: versions - 1,
        deletedVersions: deletedVersions + 1,
      }));
    },
  },
  indexes: [['kind'], ['organizationId', 'kind'], ['partnerId', 'kind'], ['projectId', 'kind'], ['flowId']],
});

function changed(
  document: FiguresDocument | null,
  time: string,
  change: (flow: FlowFiguresDocument) => Partial<FlowFiguresDocument>,
): FiguresDocument | null {
  return document?.kind === 'flow' ? { ...document, ...change(document), updatedAt: time } : document;
}

function tagged(
  { newest, active }: FlowFiguresDocument,
  { data: { id, tag } }: Event<'FlowVersionTagged'>,
): Partial<FlowFiguresDocument> {
  return {
    newest: newest?.id === id ? { ...newest, tag } : newest,
    active: active?.id === id ? { ...active, tag } : active,
  };
}

function activeVersion({ id, number, tag, createdAt }: VersionDocument, since: string) {
  return { id, number, tag, createdAt, since };
}
