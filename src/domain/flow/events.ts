import * as t from 'io-ts';
import { enumeration, nullable } from '#shared/codecs/choice.ts';
import { json } from '#shared/codecs/json-value.ts';

export const FlowType = enumeration('FlowType', 'simple', 'graph');
export const FlowTier = enumeration('FlowTier', 'standard', 'pro');

/** Events that change a field of a flow, without an effect on anything else. */
export const flowFieldEvents = {
  FlowRenamed: t.type({ id: t.string, name: t.string }),
  FlowDescribed: t.type({ id: t.string, description: nullable(t.string) }),
  /** Appended only together with a version of the other type. */
  FlowTypeChanged: t.type({ id: t.string, type: FlowType }),
  FlowTierChanged: t.type({ id: t.string, tier: FlowTier }),
};

/** The events of a flow and of its versions. */
export const flowEvents = {
  FlowCreated: t.type({
    id: t.string,
    projectId: t.string,
    name: t.string,
    type: FlowType,
    description: nullable(t.string),
    tier: FlowTier,
    agentProfileId: nullable(t.string),
  }),
  ...flowFieldEvents,
  FlowAgentProfileAssigned: t.type({
    id: t.string,
    agentProfileId: nullable(t.string),
    previousAgentProfileId: nullable(t.string),
    /**
     * The revision up to which this flow has applied the requests of the agent profiles' events; null if the flow's own
     * request assigned the profile.
     */
    requestedAtRevision: nullable(t.number),
  }),
  FlowDeleted: t.type({ id: t.string, agentProfileId: nullable(t.string) }),
  FlowVersionCreated: t.intersection([
    t.type({ id: t.string, flowId: t.string, version: t.number, tag: t.string, flowSchema: json }),
    /** The version that it copies, if it is a copy. */
    t.partial({ restoredFrom: t.string }),
  ]),
  FlowVersionTagged: t.type({ id: t.string, flowId: t.string, tag: t.string }),
  FlowVersionActivated: t.type({ id: t.string, flowId: t.string, replacedVersionId: nullable(t.string) }),
  FlowVersionDeleted: t.type({ id: t.string, flowId: t.string }),
};

export type FlowEvents = { [Type in keyof typeof flowEvents]: t.TypeOf<(typeof flowEvents)[Type]> };
