import type * as t from 'io-ts';
import { flag, oneOf } from '#shared/codecs/choice.ts';
import { optional, withDefault } from '#shared/codecs/default.ts';
import { integer } from '#shared/codecs/number.ts';

/** The member of a chat for the maximum tokens of its answer. */
export const maxTokensMember = oneOf('max_completion_tokens', 'max_tokens');
export type MaxTokensMember = t.TypeOf<typeof maxTokensMember>;

/** Which of its earlier reasoning a model of a chat gets back. */
export const returnsReasoning = oneOf('tools', 'always', 'never');
/** What it gets back: the reasoning since the user's last text, all of it, or none. */
export type ReturnsReasoning = t.TypeOf<typeof returnsReasoning>;

/** What the configuration says of a model, beyond what the provider's protocol says. */
export const modelTraits = {
  /** The limit where a provider needs one and the client gives none. */
  maxOutputTokens: optional(integer(1, 100_000_000)),
  /** The member for the limit, if it differs from the model's or the provider's. */
  maxTokens: optional(maxTokensMember),
  /** Whether it thinks before it answers, so that it takes an effort. */
  reasoning: withDefault(flag, false),
  /** How an Anthropic model thinks: with a budget of tokens, with an effort, or not at all. */
  thinking: withDefault(oneOf('none', 'budget', 'adaptive'), 'none'),
  /** What it gets back, if that differs from the model's or the provider's. */
  returnsReasoning: optional(returnsReasoning),
};

/** A target as its entry in the configuration describes it. */
export interface TargetModel {
  /** `provider/model`, the name of what it needs back. */
  readonly id: string;
  readonly provider: string;
  readonly model: string;
  readonly maxOutputTokens: number | null;
  readonly reasoning: boolean;
  readonly thinking: t.TypeOf<typeof modelTraits.thinking>;
  readonly maxTokens: MaxTokensMember;
  /** What it gets back in a chat; null for what it made since the user's last text. */
  readonly returnsReasoning: ReturnsReasoning | null;
  /** Whether it refuses calls without Gemini's signatures. */
  readonly checksSignatures: boolean;
}
