import type { Conversation } from '#gateway/neutral/conversation.ts';

interface Sampling {
  readonly temperature?: number | undefined;
  readonly top_p?: number | undefined;
  readonly top_k?: number | undefined;
}

const minThinkingTopP = 0.95;

/**
 * What Anthropic accepts (https://docs.anthropic.com/en/api/messages). Temperature goes up to 1. Some models refuse
 * temperature and `top_p` together, and judge that themselves.
 * @param ignored gets the places of what is left out or changed
 */
export function samplingOf({ temperature, topP, topK }: Conversation, thinks: boolean, ignored: Set<string>): Sampling {
  if (thinks) return thinkingSampling({ temperature, topP, topK }, ignored);
  if (temperature !== null && temperature.value > 1) ignored.add(temperature.pointer);
  const cooled = temperature === null ? undefined : Math.min(1, temperature.value);
  return { temperature: cooled, top_p: topP?.value, top_k: topK?.value };
}

/** A model that thinks takes only the temperature 1, which is its default (https://docs.anthropic.com/en/docs/build-with-claude/extended-thinking). */
function thinkingSampling(
  { temperature, topP, topK }: Pick<Conversation, 'temperature' | 'topP' | 'topK'>,
  ignored: Set<string>,
): Sampling {
  if (temperature !== null && temperature.value !== 1) ignored.add(temperature.pointer);
  if (topK !== null) ignored.add(topK.pointer);
  if (topP === null || topP.value >= minThinkingTopP) return { top_p: topP?.value };
  ignored.add(topP.pointer);
  return {};
}
