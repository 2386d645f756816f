import type { JsonObject } from '#shared/json/json.ts';
import type { Section } from './import-report.ts';

const maxPrice = 1_000_000;

/** LiteLLM's name, our name, and the power of ten between them. */
const costs = [
  ['input_cost_per_token', 'inputPerMillion'],
  ['output_cost_per_token', 'outputPerMillion'],
  ['cache_read_input_token_cost', 'cachedInputPerMillion'],
  ['cache_creation_input_token_cost', 'cacheWritePerMillion'],
  ['cache_creation_input_token_cost_above_1hr', 'cacheWriteHourPerMillion'],
] as const;

/** Converts a price. LiteLLM prefers those of `litellm_params`. @returns undefined without a cost */
export function convertPrice(params: Section, info: Section, mode: string | undefined): JsonObject | undefined {
  const price: Record<string, number> = {};
  for (const [cost, ours] of costs) {
    const perToken = takeCost(params, info, cost);
    if (perToken !== undefined) price[ours] = shifted(perToken, 6);
  }
  if (mode === 'audio_speech') {
    const perCharacter = takeCost(params, info, 'input_cost_per_character');
    if (perCharacter !== undefined) price.perMillionCharacters = shifted(perCharacter, 6);
  }
  if (mode === 'audio_transcription') {
    const perSecond = takeCost(params, info, 'input_cost_per_second');
    if (perSecond !== undefined) price.perMinute = Number((perSecond * 60).toPrecision(12));
  }
  noteMissingHalf(params, price, mode);
  return Object.keys(price).length === 0 ? undefined : price;
}

function takeCost(params: Section, info: Section, name: string): number | undefined {
  const maxCost = maxPrice / 1_000_000;
  const [first, second] = [params.takeNumber(name, 0, maxCost), info.takeNumber(name, 0, maxCost)];
  if (first !== undefined && second !== undefined)
    info.leaveOut(name, 'litellm_params has another one, which LiteLLM prefers');
  return first ?? second;
}

/** Shifts without the rounding of a multiplication: 2.8e-7 by 6 is 0.28. */
function shifted(value: number, digits: number): number {
  const [mantissa, exponent = '0'] = String(value).split('e');
  return Number(`${mantissa}e${Number(exponent) + digits}`);
}

/** A price that is missing here is 0, while LiteLLM looks it up in a list of its own. */
function noteMissingHalf(params: Section, price: Readonly<Record<string, number>>, mode: string | undefined): void {
  if (mode === 'embedding' || (price.inputPerMillion === undefined) === (price.outputPerMillion === undefined)) return;
  const missing = price.inputPerMillion === undefined ? 'input_cost_per_token' : 'output_cost_per_token';
  params.note(missing, 'is missing, so these tokens cost nothing here');
}
