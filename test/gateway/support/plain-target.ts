import type { TargetModel } from '#gateway/protocols/target-model.ts';

/** A target whose entry in the configuration says nothing. */
export const plainTarget: TargetModel = {
  id: 'p/m',
  provider: 'p',
  model: 'm',
  maxOutputTokens: null,
  reasoning: false,
  thinking: 'none',
  maxTokens: 'max_tokens',
  returnsReasoning: null,
  checksSignatures: false,
};
