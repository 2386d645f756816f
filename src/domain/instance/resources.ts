import * as t from 'io-ts';
import { FlowType } from '#domain/flow/events.ts';
import { nullable } from '#shared/codecs/choice.ts';

/** A flow with its key in the payload, and the version with the template's contents. */
const InstanceFlow = t.type({ key: t.string, id: t.string, versionId: t.string, name: t.string, type: FlowType });

const InstanceAgentProfile = t.type({
  id: t.string,
  name: t.string,
  supportedInputLanguages: t.readonlyArray(t.string),
  reasoningMode: t.string,
  outputVoiceId: t.string,
});

const InstanceStore = t.type({ key: t.string, id: t.string, name: t.string, description: nullable(t.string) });

/** Current or planned resources, without flow schemas, which the template version has. */
export const Resources = t.type({
  flows: t.readonlyArray(InstanceFlow),
  agentProfile: nullable(InstanceAgentProfile),
  stores: t.readonlyArray(InstanceStore),
});

export type InstanceFlow = t.TypeOf<typeof InstanceFlow>;
export type InstanceAgentProfile = t.TypeOf<typeof InstanceAgentProfile>;
export type InstanceStore = t.TypeOf<typeof InstanceStore>;
export type Resources = t.TypeOf<typeof Resources>;
