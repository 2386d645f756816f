/** As a provider counts them. A part is missing if the provider does not report it. */
export interface Tokens {
  /** All of the input, cached or not. */
  readonly input: number;
  /** All of the output, with its reasoning. */
  readonly output: number;
  /** Of the input, what the provider read from its cache. */
  readonly cachedInput?: number;
  /** Of the input, what the provider wrote to its cache. */
  readonly cacheWrite?: number;
  /** Of what it wrote to its cache, what stays there for an hour. */
  readonly cacheWriteHour?: number;
  /** Of the output, the reasoning. */
  readonly reasoning?: number;
}

/** Null for amounts that are unknown or that the operation does not have. */
export interface Consumption {
  readonly tokens: Tokens | null;
  /** Unicode characters of the text that was spoken. */
  readonly characters: number | null;
  /** If the provider states it. */
  readonly audioSeconds: number | null;
}

/** By a provider, in an answer or in a part of one. */
export type ReportedConsumption = Pick<Consumption, 'tokens' | 'audioSeconds'>;

export const nothingReported: ReportedConsumption = { tokens: null, audioSeconds: null };
