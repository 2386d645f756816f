/** Tokens as a provider counts them. A part is missing if the provider does not report it. */
export interface Tokens {
  /** The tokens of all of the input, cached or not. */
  readonly input: number;
  /** The tokens of all of the output, with its reasoning. */
  readonly output: number;
  /** The part of the input that the provider read from its cache. */
  readonly cachedInput?: number;
  /** The part of the input that the provider wrote to its cache. */
  readonly cacheWrite?: number;
  /** The part of what it wrote to its cache that stays there for an hour. */
  readonly cacheWriteHour?: number;
  /** The part of the output that was reasoning. */
  readonly reasoning?: number;
}

/** What a call used. Null for amounts that are unknown or that the operation does not have. */
export interface Consumption {
  readonly tokens: Tokens | null;
  /** Unicode characters of the text that was spoken. */
  readonly characters: number | null;
  /** The length of the audio, if the provider states it. */
  readonly audioSeconds: number | null;
}

/** What a provider has reported in an answer or in a part of one. */
export type ReportedConsumption = Pick<Consumption, 'tokens' | 'audioSeconds'>;

export const nothingReported: ReportedConsumption = { tokens: null, audioSeconds: null };
