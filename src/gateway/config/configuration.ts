import type * as t from 'io-ts';
import { defaultLimitFactor } from '#application/access/rate-limit.ts';
import { checkedText } from '#shared/codecs/checked.ts';
import { flag, oneOf } from '#shared/codecs/choice.ts';
import { optional, withDefault, withDefaultInput } from '#shared/codecs/default.ts';
import { list } from '#shared/codecs/list.ts';
import { integer, numberBetween } from '#shared/codecs/number.ts';
import { recordOf, type StrictObjectOf, strictObject } from '#shared/codecs/object.ts';
import { text } from '#shared/codecs/text.ts';

/** The longest wait of the gateway, in ms. A longer one is left to the client, with its length in the answer. */
export const maxRetryAfterMs = 15_000;

const maxTimeoutMs = 24 * 60 * 60 * 1_000;
const milliseconds = integer(1, maxTimeoutMs);

/** A missing timeout is the provider's, or else that of `defaultTimeouts`. */
const Timeouts = strictObject({
  connectMs: optional(milliseconds),
  headersMs: optional(milliseconds),
  firstContentMs: optional(milliseconds),
  idleMs: optional(milliseconds),
  totalMs: optional(milliseconds),
  earlyHeadMs: optional(integer(0, maxTimeoutMs)),
});

/** How long each phase of a call may take, in milliseconds. */
export interface Timeouts {
  /** Until there is a connection, including the wait for a free one. */
  readonly connectMs: number;
  /** From the request sent to the answer's headers. */
  readonly headersMs: number;
  /** From the request sent to the first content of the answer. */
  readonly firstContentMs: number;
  /** Between two chunks after the first content. */
  readonly idleMs: number;
  /** From the caller's complete request to the end of the answer, including all attempts and waits. */
  readonly totalMs: number;
  /** From the headers of a stream of text to the head that the client gets without content; 0 for never. */
  readonly earlyHeadMs: number;
}

/** The timeouts of a configuration without its own. */
export const defaultTimeouts: Timeouts = {
  connectMs: 5_000,
  headersMs: 60_000,
  firstContentMs: 60_000,
  idleMs: 60_000,
  totalMs: 600_000,
  earlyHeadMs: 5_000,
};

const providerKinds = ['openai-compatible', 'anthropic', 'elevenlabs', 'sandbox'] as const;
/** The kind of a provider, which decides how the gateway calls it. */
export type ProviderKind = (typeof providerKinds)[number];

/** Whether providers of a kind generate texts. */
export function canChat(kind: ProviderKind | undefined): boolean {
  return kind !== undefined && kind !== 'elevenlabs';
}

const maxTokensMember = oneOf('max_completion_tokens', 'max_tokens');
/** The member of a chat for the most tokens of its answer. */
export type MaxTokensMember = t.TypeOf<typeof maxTokensMember>;

const Provider = strictObject({
  kind: oneOf(...providerKinds),
  baseUrl: optional(checkedText(text({ min: 1, max: 2_000 }), checkBaseUrl)),
  apiKeyEnv: optional(checkedText(text(), (name) => (/^[A-Za-z_]\w*$/.test(name) ? null : 'must name a variable'))),
  /** The header that carries the key unchanged; by default `authorization`, as a bearer token. */
  apiKeyHeader: optional(checkedText(text(), checkHeaderName)),
  /** Sent with every call. Secrets belong in `apiKeyEnv`, not here. */
  headers: withDefaultInput(byName(checkedText(text({ max: 2_000 }), checkHeaderValue)), {}),
  anyVoice: withDefault(flag, false),
  /** Whether it has `/responses`. Default: whether it is OpenAI. */
  responses: optional(flag),
  /** Whether it runs OpenAI's own tools. */
  hostedTools: withDefault(flag, false),
  /** The member for the limit of tokens in a translated chat. Default: that of `defaultMaxTokensMember`. */
  maxTokens: optional(maxTokensMember),
  timeouts: withDefaultInput(Timeouts, {}),
});

/**
 * OpenAI's newer models refuse `max_tokens` (https://platform.openai.com/docs/api-reference/chat/create), and many other
 * servers know no `max_completion_tokens`.
 */
export function defaultMaxTokensMember(provider: ProviderConfiguration | undefined): MaxTokensMember {
  if (provider?.kind !== 'openai-compatible') return 'max_tokens';
  const isOpenAi = provider.baseUrl === undefined || openAiHost.test(new URL(provider.baseUrl).hostname);
  return isOpenAi ? 'max_completion_tokens' : 'max_tokens';
}

const openAiHost = /\.openai(\.azure)?\.com$/;

const modelName = checkedText(text({ min: 1, max: 500 }), checkVisibleAscii);

const upToAMillion = numberBetween(0, 1_000_000);

/** The provider's prices, in the operator's currency. Amounts without a price are not billed. */
const Price = strictObject({
  inputPerMillion: withDefault(upToAMillion, 0),
  outputPerMillion: withDefault(upToAMillion, 0),
  /** Of input that the provider reads from its cache; missing: as other input. */
  cachedInputPerMillion: optional(upToAMillion),
  /** Of input that the provider writes to its cache; missing: as other input. */
  cacheWritePerMillion: optional(upToAMillion),
  perMillionCharacters: optional(upToAMillion),
  perMinute: optional(upToAMillion),
});

/** What a model takes, beyond what its provider's protocol says. */
const modelTraits = {
  /** Maximum tokens of an answer: used where a provider needs a limit and the client gives none. */
  maxOutputTokens: optional(integer(1, 100_000_000)),
  /** The member for the limit of tokens, if it differs from the model's or the provider's. */
  maxTokens: optional(maxTokensMember),
  /** Whether it thinks before it answers, so that it takes an effort. */
  reasoning: withDefault(flag, false),
  /** How an Anthropic model is asked to think: with a budget of tokens, with an effort, or not at all. */
  thinking: withDefault(oneOf('none', 'budget', 'adaptive'), 'none'),
};

const Target = strictObject({
  provider: text({ min: 1 }),
  model: modelName,
  weight: withDefault(upToAMillion, 1),
  ...modelTraits,
  interchangeable: withDefault(flag, false),
  price: optional(Price),
});

const Fallback = strictObject({
  provider: text({ min: 1 }),
  model: modelName,
  prefill: withDefault(flag, false),
  ...modelTraits,
  /** Whether its vectors can be compared with those of the entry's first target, although its model has another name. */
  interchangeable: withDefault(flag, false),
  price: optional(Price),
});

const retries = withDefault(integer(0, 10), 2);
/** The longest wait, in ms, that a target may ask for. For a longer one the call goes to another target. */
const retryAfterMax = withDefault(integer(0, maxRetryAfterMs), 2_000);

const Model = strictObject({
  targets: list(Target, { min: 1 }),
  fallbacks: withDefaultInput(list(Fallback), []),
  retries,
  retryAfterMaxMs: retryAfterMax,
  onStreamFailure: withDefault(oneOf('error', 'continue', 'whole'), 'error'),
  askUsage: withDefault(flag, false),
  maxTokens: optional(maxTokensMember),
  timeouts: withDefaultInput(Timeouts, {}),
  price: optional(Price),
});

/** The hints by which `auto` picks. */
export const reasoningHints = ['fast', 'balanced', 'smart', 'turbo'] as const;
/** A hint by which `auto` picks a model. */
export type ReasoningHint = (typeof reasoningHints)[number];

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

/** The whole configuration, without the checks between its parts: see `decodeConfiguration`. */
export const Configuration = strictObject({
  providers: withDefaultInput(byName(Provider), {}),
  models: withDefaultInput(byName(Model), {}),
  auto: withDefaultInput(Auto, {}),
  voices: withDefaultInput(byName(Voice), {}),
  limits: withDefaultInput(Limits, {}),
  /** Of all prices, as ISO 4217 has it. */
  currency: withDefault(
    checkedText(text(), (code) => (/^[A-Z]{3}$/.test(code) ? null : 'must be a code of ISO 4217, like USD')),
    'USD',
  ),
});

/** A whole configuration. */
export type GatewayConfiguration = t.TypeOf<typeof Configuration>;
/** A provider in the configuration. */
export type ProviderConfiguration = t.TypeOf<typeof Provider>;
/** A model in the configuration. */
export type ModelConfiguration = t.TypeOf<typeof Model>;
/** A price in the configuration. */
export type Price = t.TypeOf<typeof Price>;
/** A target of a voice in the configuration. */
export type VoiceTarget = Pick<VoiceConfiguration, keyof typeof voiceTarget | 'price'>;
/** A voice in the configuration. */
export type VoiceConfiguration = t.TypeOf<typeof Voice>;
/** The codec of timeouts in the configuration. */
export type TimeoutsConfiguration = StrictObjectOf<{ [Name in keyof Timeouts]: t.Type<number | undefined> }>;

/** Values by names that the operator chooses. */
function byName<C extends t.Mixed>(codec: C) {
  return recordOf(codec, checkName);
}

const maxNameLength = 200;

/**
 * Checks a name that appears in headers, metrics and logs.
 * @returns what is wrong with it; null if it is valid
 */
export function checkName(name: string): string | null {
  if (name === '' || name.length > maxNameLength) return `must have a name of 1 to ${maxNameLength} characters`;
  return /^[\x21-\x7e]+$/.test(name) ? null : 'must have a name of visible ASCII characters, without blanks';
}

/** Checks the address of a provider. */
export function checkBaseUrl(value: string): string | null {
  const url = URL.parse(value);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return 'must be an http or https URL';
  if (url.username !== '' || url.password !== '') return 'must hold no user or password: use apiKeyEnv';
  return url.hash === '' ? null : 'must have no fragment';
}

/** Headers that the gateway or HTTP itself sets. */
const ownHeaders = new Set(
  (
    'host connection keep-alive proxy-connection transfer-encoding te trailer upgrade expect content-length ' +
    'content-type content-encoding accept accept-encoding user-agent'
  ).split(' '),
);

/** Checks the name of a header that the operator adds. */
export function checkHeaderName(value: string): string | null {
  if (!/^[!#$%&'*+.^`|~\w-]{1,100}$/.test(value)) return 'must be the name of a header';
  return ownHeaders.has(value.toLowerCase()) ? 'is written by the gateway itself' : null;
}

/** Checks the value of a header. */
export function checkHeaderValue(value: string): string | null {
  return /^[\x20-\x7e]*$/.test(value) ? null : 'must be visible ASCII';
}

/** Checks the name of a model. */
export function checkVisibleAscii(value: string): string | null {
  return /^[\x21-\x7e]+$/.test(value) ? null : 'must be visible ASCII characters, without blanks';
}

const maxSegmentCharacters = 200;

/**
 * Checks a text that becomes one segment of a provider's path; null if it is valid. Percent-encoding is not enough: it
 * does not change `..`, and many servers decode `%2F` before routing.
 */
export function checkPathSegment(text: string): string | null {
  if (text === '' || text.length > maxSegmentCharacters) return `must have 1 to ${maxSegmentCharacters} characters`;
  if (/^[.\s]+$/.test(text)) return 'must not be made of dots';
  if (!text.isWellFormed() || /[\p{Cc}\u2028\u2029/\\%?#;]/u.test(text)) {
    return 'must hold no control character and none of / \\ % ? # ;';
  }
  return null;
}
