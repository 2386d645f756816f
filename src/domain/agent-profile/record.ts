import * as t from 'io-ts';
import { cuid, text, timestamp } from '#domain/codecs/codecs.ts';

/** An agent profile as it is given out (contract, "Agent profile"). */
export const AgentProfileRecord = t.type({
  id: cuid,
  projectId: cuid,
  name: text(),
  isDefault: t.boolean,
  supportedInputLanguages: t.readonlyArray(text()),
  reasoningMode: text(),
  outputVoiceId: text(),
  flowIds: t.readonlyArray(text()),
  createdAt: timestamp,
  updatedAt: timestamp,
});

export type AgentProfileRecord = t.TypeOf<typeof AgentProfileRecord>;
