import type { Effort } from '#gateway/neutral/conversation.ts';

/** The name that its signatures carry. */
export const protocolName = 'anthropic-messages';

const budgets: Readonly<Record<Effort, number>> = { none: 0, minimal: 1_024, low: 4_096, medium: 8_192, high: 16_384 };

/**
 * The smallest budget. Anthropic refuses less (https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking).
 */
const minBudget = 1_024;

export function effortOf(tokens: number): Effort {
  const nearest = Object.entries(budgets).toSorted(
    ([, one], [, other]) => Math.abs(one - tokens) - Math.abs(other - tokens),
  )[0];
  return (nearest?.[0] ?? 'medium') as Effort;
}

/**
 * The budget: at most half of the answer's tokens.
 * @param asked the client's own budget; null without one
 * @returns null if nothing is left for thinking
 */
export function budgetOf(effort: Effort, asked: number | null, maxTokens: number): number | null {
  const budget = Math.min(asked ?? budgets[effort], Math.floor(maxTokens / 2));
  return budget < minBudget ? null : budget;
}
