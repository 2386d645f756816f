import * as t from 'io-ts';
import { nullable } from '#shared/codecs/choice.ts';

const contents = {
  id: t.string,
  name: t.string,
  supportedInputLanguages: t.readonlyArray(t.string),
  reasoningMode: t.string,
  outputVoiceId: t.string,
};

const whole = {
  ...contents,
  projectId: t.string,
  /** The requested flows. The flows' own events hold the relation. */
  flowIds: t.readonlyArray(t.string),
};

/** All of a project's agent profiles are in one stream. */
export const agentProfileEvents = {
  AgentProfileCreated: t.type(whole),
  AgentProfileReplaced: t.type(whole),
  /** Only its contents were replaced; its flows are unchanged. */
  AgentProfileRevised: t.type(contents),
  AgentProfileDefaultMoved: t.type({ id: t.string, previousId: nullable(t.string) }),
  AgentProfileDeleted: t.type({ id: t.string }),
};

export type AgentProfileEvents = {
  [Type in keyof typeof agentProfileEvents]: t.TypeOf<(typeof agentProfileEvents)[Type]>;
};
