import type * as t from 'io-ts';
import { flag, oneOf } from '#shared/codecs/choice.ts';
import { optional, withDefault } from '#shared/codecs/default.ts';
import { integer } from '#shared/codecs/number.ts';

/** The member of a chat for the maximum tokens of its answer, in the configuration. */
export const maxTokensMember = oneOf('max_completion_tokens', 'max_tokens');
/** The member of a chat for the maximum tokens of its answer. */
export type MaxTokensMember = t.TypeOf<typeof maxTokensMember>;

/** Which of its earlier reasoning a model of a chat gets back, in the configuration. */
export const returnsReasoning = oneOf('tools', 'always', 'never');
/** Which of its earlier reasoning a model of a chat gets back: that since the user's last text, all of it, or none. */
export type ReturnsReasoning = t.TypeOf<typeof returnsReasoning>;

/** What a model takes, beyond what its provider's protocol says, in the configuration. */
export const modelTraits = {
  /** Maximum tokens of an answer: used where a provider needs a limit and the client gives none. */
  maxOutputTokens: optional(integer(1, 100_000_000)),
  /** The member for the limit of tokens, if it differs from the model's or the provider's. */
  maxTokens: optional(maxTokensMember),
  /** Whether it thinks before it answers, so that it takes an effort. */
  reasoning: withDefault(flag, false),
  /** How an Anthropic model is asked to think: with a budget of tokens, with an effort, or not at all. */
  thinking: withDefault(oneOf('none', 'budget', 'adaptive'), 'none'),
  /** Which of its earlier reasoning it gets back, if it differs from the model's or the provider's. */
  returnsReasoning: optional(returnsReasoning),
};

/** What a target's model takes, by its entry in the configuration. */
export interface TargetModel {
  /** `provider/model`, the name of what it needs back. */
  readonly id: string;
  readonly provider: string;
  readonly model: string;
  readonly maxOutputTokens: number | null;
  /** Whether it thinks before it answers. */
  readonly reasoning: boolean;
  /** How an Anthropic model is asked to think. */
  readonly thinking: t.TypeOf<typeof modelTraits.thinking>;
  /** The member for the limit of an answer's tokens in a chat. */
  readonly maxTokens: MaxTokensMember;
  /** Which of its earlier reasoning it gets back in a chat; null for what it made since the user's last text. */
  readonly returnsReasoning: ReturnsReasoning | null;
  /** Whether it refuses calls without Gemini's signatures. */
  readonly checksSignatures: boolean;
}
