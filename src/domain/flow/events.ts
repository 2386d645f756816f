import * as t from 'io-ts';
import { nullable, oneOf } from '#shared/codecs/choice.ts';
import { json } from '#shared/codecs/json-value.ts';

export const FlowType = oneOf('simple', 'graph');
export const FlowTier = oneOf('standard', 'pro');

/** The events of a flow's stream, its versions' among them. */
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
  FlowRenamed: t.type({ id: t.string, name: t.string }),
  FlowDescribed: t.type({ id: t.string, description: nullable(t.string) }),
  /** Only along with a version that is of the other type. */
  FlowTypeChanged: t.type({ id: t.string, type: FlowType }),
  FlowTierChanged: t.type({ id: t.string, tier: FlowTier }),
  FlowAgentProfileAssigned: t.type({
    id: t.string,
    agentProfileId: nullable(t.string),
    previousAgentProfileId: nullable(t.string),
    /**
     * The revision of the agent profiles' events up to which this flow has done what they ask; null when the flow's own
     * request assigned it.
     */
    requestedAtRevision: nullable(t.number),
  }),
  FlowDeleted: t.type({ id: t.string, agentProfileId: nullable(t.string) }),
  FlowVersionCreated: t.intersection([
    t.type({ id: t.string, flowId: t.string, version: t.number, tag: t.string, flowSchema: json }),
    /** The version that it is a copy of, where it is one. */
    t.partial({ restoredFrom: t.string }),
  ]),
  FlowVersionTagged: t.type({ id: t.string, flowId: t.string, tag: t.string }),
  FlowVersionActivated: t.type({ id: t.string, flowId: t.string, replacedVersionId: nullable(t.string) }),
  FlowVersionDeleted: t.type({ id: t.string, flowId: t.string }),
};

export type FlowEvents = { [Type in keyof typeof flowEvents]: t.TypeOf<(typeof flowEvents)[Type]> };
