import { isObject, type JsonObject } from '#shared/json/json.ts';
import { isCount, type Tokens } from './chat/chat-event.ts';
import type { Price } from './config/configuration.ts';

/** What a call used; null for amounts that are unknown or that the operation does not have. */
export interface Consumption {
  readonly tokens: Tokens | null;
  /** Unicode characters of the text that was spoken. */
  readonly characters: number | null;
  /** The length of the transcribed audio in seconds, if the provider states it. */
  readonly audioSeconds: number | null;
}

/** What a provider has reported of its consumption, in an answer or in a part of one. */
export type ReportedConsumption = Pick<Consumption, 'tokens' | 'audioSeconds'>;

/** No report. */
export const nothingReported: ReportedConsumption = { tokens: null, audioSeconds: null };

/** The cost of a call, in the price's currency; null if no amount with a price is known. */
export function costOf({ tokens, characters, audioSeconds }: Consumption, price: Price): number | null {
  const { inputPerMillion, outputPerMillion, perMillionCharacters, perMinute } = price;
  const parts = [
    tokens && (tokens.input * inputPerMillion + tokens.output * outputPerMillion) / 1_000_000,
    characters !== null && perMillionCharacters !== undefined ? (characters * perMillionCharacters) / 1_000_000 : null,
    audioSeconds !== null && perMinute !== undefined ? (audioSeconds * perMinute) / 60 : null,
  ].filter((part) => part !== null);
  return parts.length === 0 ? null : parts.reduce((sum, part) => sum + part, 0);
}

/**
 * The length of a transcribed audio in seconds, under any of the names in use; null if the answer does not state it.
 */
export function audioSecondsIn({ usage, duration, audio_duration_secs: whole }: JsonObject): number | null {
  const stated = (isObject(usage) ? usage.seconds : undefined) ?? duration ?? whole;
  return isCount(stated) ? stated : null;
}
