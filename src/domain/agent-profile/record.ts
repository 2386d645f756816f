import * as t from 'io-ts';
import { cuid } from '#domain/codecs/id.ts';
import { timestamp } from '#domain/codecs/time.ts';
import { text } from '#shared/codecs/text.ts';

/** An agent profile in the API (contract, "Agent profile"). */
export const AgentProfileRecord = t.type(
  {
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
  },
  'AgentProfile',
);

export type AgentProfileRecord = t.TypeOf<typeof AgentProfileRecord>;
