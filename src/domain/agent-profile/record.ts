import * as t from 'io-ts';
import { cuid } from '#domain/codecs/id.ts';
import { exampleIds, recordTimes } from '#domain/shared/examples.ts';
import { record } from '#shared/codecs/record.ts';
import { text } from '#shared/codecs/text.ts';

/** See "Agent profile" in the contract. */
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

/** Members that a client sets (contract, "Agent profiles"; it gives no bounds). */
export const agentProfileContents = {
  name: text(),
  flowIds: t.readonlyArray(text()),
  isDefault: t.boolean,
  supportedInputLanguages: t.readonlyArray(text()),
  reasoningMode: text(),
  outputVoiceId: text(),
};

const { name, isDefault, supportedInputLanguages, reasoningMode, outputVoiceId, flowIds } = AgentProfileRecord.example;

export const exampleContents = { name, isDefault, supportedInputLanguages, reasoningMode, outputVoiceId, flowIds };
