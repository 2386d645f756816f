import type { Tenant } from '#domain/shared/access.ts';
import type { CallOutcome, RecordedCall } from '#domain/usage/recorded-call.ts';
import type { Price } from '#gateway/config/configuration.ts';
import type { Consumption, ReportedConsumption, Tokens } from '#gateway/neutral/consumption.ts';

/** An attempt of a call. A call whose attempt failed may be served by the next one. */
export interface AttemptRecord {
  /** `provider/model`. */
  readonly target: string;
  readonly result: 'served' | 'failed' | 'abandoned';
  /** The status of the provider's answer; null without an answer. */
  readonly status: number | null;
  /** The provider's name of the error, or the gateway's (`failureName`); null if it did not fail. */
  readonly errorType: string | null;
  /** The gateway's own code of the failure (`failureReason`); null if it did not fail. */
  readonly reason: string | null;
  /** When it began, in ms after the complete request arrived. */
  readonly startMs: number;
  readonly durationMs: number;
}

/** An attempt that broke after its provider had reported what it consumed, and was not the last of its call. */
export interface BrokenAttempt extends ReportedConsumption {
  /** `provider/model`. */
  readonly target: string;
  readonly provider: string;
  /** The cost by the target's price; null without one. */
  readonly cost: number | null;
}

/**
 * The record of a call, which belongs to the tenant of its key. Holds no prompt, no answer and no spoken text. Times
 * are in ms after the complete request arrived.
 */
export interface CallRecord extends Consumption, Tenant {
  readonly operation: RecordedCall['operation'];
  readonly keyId: string;
  readonly requestId: string;
  /** The batch that the call is a line of; null for a client's call. */
  readonly batchId: string | null;
  /** The catalogue tag, or the voice that chose the model. */
  readonly model: string;
  /** `provider/model` of the last attempt; null without an attempt. */
  readonly target: string | null;
  readonly provider: string | null;
  readonly streamed: boolean;
  readonly outcome: CallOutcome;
  /** OpenAI's error code, or the gateway's; null if the call was served. */
  readonly errorCode: string | null;
  /** The gateway's own code of the failure that ended the call; null if it was served or the client left. */
  readonly reason: string | null;
  readonly attempts: ReadonlyArray<AttemptRecord>;
  readonly headersMs: number | null;
  readonly firstContentMs: number | null;
  readonly totalMs: number;
  /** When it ended, in ms since 1970. */
  readonly endedAt: number;
  /** The cost by the configured price, in its currency; null without a price, or if the consumption is unknown. */
  readonly cost: number | null;
  /** What earlier attempts had consumed when they broke. The consumption above is that of the last attempt. */
  readonly brokenAttempts: ReadonlyArray<BrokenAttempt>;
}

export interface Usage {
  /** Records a call. Never throws and never waits. */
  readonly record: (record: CallRecord) => void;
}

type StatedPrice = Partial<Price> & Pick<Price, 'inputPerMillion' | 'outputPerMillion'>;

/** The cost in the price's currency; null if no amount with a price is known. */
export function costOf({ tokens, characters, audioSeconds }: Consumption, price: StatedPrice): number | null {
  const { perMillionCharacters, perMinute } = price;
  const ofTokens = tokens && costOfTokens(tokens, price);
  const ofCharacters = costOfAmount(characters, perMillionCharacters, 1_000_000);
  const ofAudio = costOfAmount(audioSeconds, perMinute, 60);
  if (ofTokens === null && ofCharacters === null && ofAudio === null) return null;
  return (ofTokens ?? 0) + (ofCharacters ?? 0) + (ofAudio ?? 0);
}

/** @param price for `per` of the amount */
function costOfAmount(amount: number | null, price: number | undefined, per: number): number | null {
  return amount === null || price === undefined ? null : (amount * price) / per;
}

/** The cost of tokens. Cached input has prices of its own where the configuration names them. */
function costOfTokens(tokens: Tokens, price: StatedPrice): number {
  const { input, output, cachedInput = 0, cacheWrite = 0 } = tokens;
  const { inputPerMillion, outputPerMillion, cachedInputPerMillion = inputPerMillion } = price;
  const uncached = Math.max(0, input - cachedInput - cacheWrite);
  const ofInput = uncached * inputPerMillion + cachedInput * cachedInputPerMillion + costOfCacheWrite(tokens, price);
  return (ofInput + output * outputPerMillion) / 1_000_000;
}

/** The cost of a million times as many tokens. */
function costOfCacheWrite({ cacheWrite = 0, cacheWriteHour = 0 }: Tokens, price: StatedPrice): number {
  const { cacheWritePerMillion = price.inputPerMillion } = price;
  const { cacheWriteHourPerMillion = cacheWritePerMillion } = price;
  const forAnHour = Math.min(cacheWriteHour, cacheWrite);
  return (cacheWrite - forAnHour) * cacheWritePerMillion + forAnHour * cacheWriteHourPerMillion;
}
