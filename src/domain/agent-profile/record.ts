import * as t from 'io-ts';
import { cuid } from '#domain/codecs/id.ts';
import type { FlowState } from '#domain/flow/flow.ts';
import { exampleIds, recordTimes } from '#domain/shared/examples.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { record } from '#shared/codecs/record.ts';
import { text } from '#shared/codecs/text.ts';

/** An agent profile in the API (contract, "Agent profile"). */
export const AgentProfileRecord = record('AgentProfile', {
  id: [cuid, exampleIds.agentProfile],
  projectId: [cuid, exampleIds.project],
  name: [text(), 'Receptionist'],
  isDefault: [t.boolean, true],
  supportedInputLanguages: [t.readonlyArray(text()), ['en', 'de']],
  reasoningMode: [text(), 'balanced'],
  outputVoiceId: [text(), 'narrator'],
  flowIds: [t.readonlyArray(text()), [exampleIds.flow]],
  ...recordTimes,
});

export type AgentProfileRecord = t.TypeOf<typeof AgentProfileRecord>;

/** The six members of an agent profile that a client sets (contract, "Agent profiles"; it gives no bounds). */
export const agentProfileContents = {
  name: text(),
  flowIds: t.readonlyArray(text()),
  isDefault: t.boolean,
  supportedInputLanguages: t.readonlyArray(text()),
  reasoningMode: text(),
  outputVoiceId: text(),
};

const { name, isDefault, supportedInputLanguages, reasoningMode, outputVoiceId, flowIds } = AgentProfileRecord.example;

/** These members of the example. */
export const exampleContents = { name, isDefault, supportedInputLanguages, reasoningMode, outputVoiceId, flowIds };

/** A flow that a request assigns to a profile, in the state of its stream. */
export interface RequestedFlow {
  readonly id: string;
  readonly state: FlowState;
}

/** Why a project's profile cannot take these flows: one is unknown, deleted or another project's. */
export function checkRequestedFlows(flows: ReadonlyArray<RequestedFlow>, projectId: string): Failure | null {
  const foreign = flows.find(({ state }) => state === null || state.deleted || state.record.projectId !== projectId);
  return foreign === undefined ? null : failure('flow-not-found', `There is no flow ${foreign.id} in this project.`);
}
