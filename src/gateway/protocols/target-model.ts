import type * as t from 'io-ts';
import { flag, oneOf } from '#shared/codecs/choice.ts';
import { optional, withDefault } from '#shared/codecs/default.ts';
import { integer } from '#shared/codecs/number.ts';

/** Of a chat, for the maximum tokens of its answer. */
export const maxTokensMember = oneOf('max_completion_tokens', 'max_tokens');
export type MaxTokensMember = t.TypeOf<typeof maxTokensMember>;

/** Which of its earlier reasoning a model of a chat gets back. */
export const returnsReasoning = oneOf('tools', 'always', 'never');
/** That since the user's last text, all of it, or none. */
export type ReturnsReasoning = t.TypeOf<typeof returnsReasoning>;

/** In the configuration, beyond what the provider's protocol says. */
export const modelTraits = {
  /** Used where a provider needs a limit and the client gives none. */
  maxOutputTokens: optional(integer(1, 100_000_000)),
  /** If it differs from the model's or the provider's. */
  maxTokens: optional(maxTokensMember),
  /** Whether it thinks before it answers, so that it takes an effort. */
  reasoning: withDefault(flag, false),
  /** Of an Anthropic model: with a budget of tokens, with an effort, or not at all. */
  thinking: withDefault(oneOf('none', 'budget', 'adaptive'), 'none'),
  /** If it differs from the model's or the provider's. */
  returnsReasoning: optional(returnsReasoning),
};

/** By its entry in the configuration. */
export interface TargetModel {
  /** `provider/model`, the name of what it needs back. */
  readonly id: string;
  readonly provider: string;
  readonly model: string;
  readonly maxOutputTokens: number | null;
  readonly reasoning: boolean;
  readonly thinking: t.TypeOf<typeof modelTraits.thinking>;
  readonly maxTokens: MaxTokensMember;
  /** In a chat; null for what it made since the user's last text. */
  readonly returnsReasoning: ReturnsReasoning | null;
  /** Whether it refuses calls without Gemini's signatures. */
  readonly checksSignatures: boolean;
}
