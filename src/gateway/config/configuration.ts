import type * as t from 'io-ts';
import { defaultLimitFactor } from '#exchange/limit-levels.ts';
import { maxTokensMember, modelTraits, returnsReasoning } from '#gateway/protocols/target-model.ts';
import { ConfiguredProvider } from '#gateway/providers/provider-kinds.ts';
import { byName } from '#gateway/providers/provider-settings.ts';
import { Timeouts } from '#gateway/transport/timeouts.ts';
import { checkedText } from '#shared/codecs/checked.ts';
import { flag, oneOf } from '#shared/codecs/choice.ts';
import { optional, withDefault, withDefaultInput } from '#shared/codecs/default.ts';
import { list } from '#shared/codecs/list.ts';
import { integer, numberBetween } from '#shared/codecs/number.ts';
import { strictObject } from '#shared/codecs/object.ts';
import { text } from '#shared/codecs/text.ts';

/** The gateway leaves a longer wait to the client, with its length in the answer. */
export const maxRetryAfterMs = 15_000;

const modelName = checkedText(text({ min: 1, max: 500 }), checkVisibleAscii);

const upToAMillion = numberBetween(0, 1_000_000);

/** Prices in the operator's currency. Amounts without a price are not billed. */
const Price = strictObject({
  inputPerMillion: withDefault(upToAMillion, 0),
  outputPerMillion: withDefault(upToAMillion, 0),
  /** The price of input that the provider reads from its cache; missing: as other input. */
  cachedInputPerMillion: optional(upToAMillion),
  /** The price of input that the provider writes to its cache; missing: as other input. */
  cacheWritePerMillion: optional(upToAMillion),
  /** The price of input that stays in that cache for an hour; missing: as other input that is written to it. */
  cacheWriteHourPerMillion: optional(upToAMillion),
  perMillionCharacters: optional(upToAMillion),
  perMinute: optional(upToAMillion),
});

/** The protocol of a target's requests, whatever the client speaks; missing if its provider decides. */
const protocol = optional(text({ min: 1 }));

const Target = strictObject({
  provider: text({ min: 1 }),
  model: modelName,
  protocol,
  weight: withDefault(upToAMillion, 1),
  ...modelTraits,
  interchangeable: withDefault(flag, false),
  price: optional(Price),
});

const Fallback = strictObject({
  provider: text({ min: 1 }),
  model: modelName,
  protocol,
  prefill: withDefault(flag, false),
  ...modelTraits,
  /** Whether its vectors can be compared with those of the entry's first target, although its model has another name. */
  interchangeable: withDefault(flag, false),
  price: optional(Price),
});

const retries = withDefault(integer(0, 10), 2);
/** Maximum wait in ms. If a target asks for a longer one, the call goes to another target. */
const retryAfterMax = withDefault(integer(0, maxRetryAfterMs), 2_000);

const Model = strictObject({
  targets: list(Target, { min: 1 }),
  fallbacks: withDefaultInput(list(Fallback), []),
  retries,
  retryAfterMaxMs: retryAfterMax,
  onStreamFailure: withDefault(oneOf('error', 'continue', 'whole'), 'error'),
  askUsage: withDefault(flag, false),
  maxTokens: optional(maxTokensMember),
  returnsReasoning: optional(returnsReasoning),
  timeouts: withDefaultInput(Timeouts, {}),
  price: optional(Price),
});

const Auto = strictObject({
  chat: withDefaultInput(
    strictObject({
      fast: optional(text({ min: 1 })),
      balanced: optional(text({ min: 1 })),
      smart: optional(text({ min: 1 })),
      turbo: optional(text({ min: 1 })),
    }),
    {},
  ),
  transcription: optional(text({ min: 1 })),
  embeddings: optional(text({ min: 1 })),
});

/** A provider's voice, with a model that has it. */
const voiceTarget = {
  provider: text({ min: 1 }),
  voice: text({ min: 1, max: 200 }),
  model: modelName,
};

const Voice = strictObject({
  id: optional(text({ min: 1, max: 200 })),
  ...voiceTarget,
  fallbacks: withDefaultInput(list(strictObject({ ...voiceTarget, price: optional(Price) })), []),
  retries,
  retryAfterMaxMs: retryAfterMax,
  timeouts: withDefaultInput(Timeouts, {}),
  price: optional(Price),
});

const Limits = strictObject({
  requestsPerMinute: optional(integer(1, 1_000_000_000)),
  callsAtOnce: optional(integer(1, 1_000_000)),
  organizationFactor: withDefault(integer(1, 1_000_000), defaultLimitFactor),
  partnerFactor: withDefault(integer(1, 1_000_000), defaultLimitFactor),
});

/** The configuration, without the checks between its parts: see `decodeConfiguration`. */
export const Configuration = strictObject({
  providers: withDefaultInput(byName(ConfiguredProvider), {}),
  models: withDefaultInput(byName(Model), {}),
  auto: withDefaultInput(Auto, {}),
  voices: withDefaultInput(byName(Voice), {}),
  limits: withDefaultInput(Limits, {}),
  /** The currency of all prices (ISO 4217). */
  currency: withDefault(
    checkedText(text(), (code) => (/^[A-Z]{3}$/.test(code) ? null : 'must be a code of ISO 4217, like USD')),
    'USD',
  ),
});

export type GatewayConfiguration = t.TypeOf<typeof Configuration>;
export type ModelConfiguration = t.TypeOf<typeof Model>;
export type Price = t.TypeOf<typeof Price>;
export type VoiceTarget = Pick<VoiceConfiguration, keyof typeof voiceTarget | 'price'>;
export type VoiceConfiguration = t.TypeOf<typeof Voice>;

function checkVisibleAscii(value: string): string | null {
  return /^[\x21-\x7e]+$/.test(value) ? null : 'must be visible ASCII characters, without blanks';
}
