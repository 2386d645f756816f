import * as E from 'fp-ts/lib/Either.js';
import type * as t from 'io-ts';
import { defaultLimitFactor } from '#application/access/limit-levels.ts';
import { inputErrors } from '#application/operations/input-errors.ts';
import type { InputError } from '#domain/shared/failure.ts';
import { checkPathSegment } from '#gateway/providers/path-segment.ts';
import { maxRetryAfterMs } from '#gateway/relay/max-retry-after.ts';
import { checkedText } from '#shared/codecs/checked.ts';
import { flag, oneOf } from '#shared/codecs/choice.ts';
import { optional, withDefault, withDefaultInput } from '#shared/codecs/default.ts';
import { list } from '#shared/codecs/list.ts';
import { integer, numberBetween } from '#shared/codecs/number.ts';
import { recordOf } from '#shared/codecs/record.ts';
import { type StrictObjectOf, strictObject } from '#shared/codecs/strict-object.ts';
import { text } from '#shared/codecs/text.ts';
import { pointerTo } from '#shared/json/json-pointer.ts';

const milliseconds = integer(1, 24 * 60 * 60 * 1_000);

/** A missing timeout is the provider's, or else that of `defaultTimeouts`. */
const Timeouts = strictObject({
  connectMs: optional(milliseconds),
  headersMs: optional(milliseconds),
  firstContentMs: optional(milliseconds),
  idleMs: optional(milliseconds),
  totalMs: optional(milliseconds),
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
}

export const defaultTimeouts: Timeouts = {
  connectMs: 5_000,
  headersMs: 60_000,
  firstContentMs: 60_000,
  idleMs: 60_000,
  totalMs: 600_000,
};

export const providerKinds = ['openai-compatible', 'elevenlabs', 'sandbox'] as const;
export type ProviderKind = (typeof providerKinds)[number];

/** Whether providers of a kind answer chats; all kinds speak and transcribe. */
export function canChat(kind: ProviderKind | undefined): boolean {
  return kind !== undefined && kind !== 'elevenlabs';
}

const Provider = strictObject({
  kind: oneOf(...providerKinds),
  baseUrl: optional(checkedText(text({ min: 1, max: 2_000 }), checkBaseUrl)),
  apiKeyEnv: optional(checkedText(text(), (name) => (/^[A-Za-z_]\w*$/.test(name) ? null : 'must name a variable'))),
  /** The header that carries the key unchanged; by default `authorization`, as a bearer token. */
  apiKeyHeader: optional(checkedText(text(), checkHeaderName)),
  /** Sent with every call. Secrets belong in `apiKeyEnv`, not here. */
  headers: withDefaultInput(byName(checkedText(text({ max: 2_000 }), checkHeaderValue)), {}),
  anyVoice: withDefault(flag, false),
  timeouts: withDefaultInput(Timeouts, {}),
});

const modelName = checkedText(text({ min: 1, max: 500 }), checkVisibleAscii);

const upToAMillion = numberBetween(0, 1_000_000);

/** The provider's prices, in the operator's currency. Amounts without a price are not billed. */
const Price = strictObject({
  inputPerMillion: withDefault(upToAMillion, 0),
  outputPerMillion: withDefault(upToAMillion, 0),
  perMillionCharacters: optional(upToAMillion),
  perMinute: optional(upToAMillion),
});

const Target = strictObject({
  provider: text({ min: 1 }),
  model: modelName,
  weight: withDefault(upToAMillion, 1),
  price: optional(Price),
});

const Fallback = strictObject({
  provider: text({ min: 1 }),
  model: modelName,
  prefill: withDefault(flag, false),
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
  timeouts: withDefaultInput(Timeouts, {}),
  price: optional(Price),
});

/** The hints by which `auto` picks. */
export const reasoningHints = ['fast', 'balanced', 'smart', 'turbo'] as const;
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

const Configuration = strictObject({
  providers: withDefaultInput(byName(Provider), {}),
  models: withDefaultInput(byName(Model), {}),
  auto: withDefaultInput(Auto, {}),
  voices: withDefaultInput(byName(Voice), {}),
  limits: withDefaultInput(Limits, {}),
});

export type GatewayConfiguration = t.TypeOf<typeof Configuration>;
export type ProviderConfiguration = t.TypeOf<typeof Provider>;
export type ModelConfiguration = t.TypeOf<typeof Model>;
export type Price = t.TypeOf<typeof Price>;
export type VoiceTarget = Pick<VoiceConfiguration, keyof typeof voiceTarget | 'price'>;
export type VoiceConfiguration = t.TypeOf<typeof Voice>;
export type TimeoutsConfiguration = StrictObjectOf<{ [Name in keyof Timeouts]: t.Type<number | undefined> }>;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Decodes the gateway's configuration.
 * @param environment where the variables that `apiKeyEnv` names must be set
 * @returns every issue with its exact place
 */
export function decodeConfiguration(
  value: unknown,
  environment: Environment,
): E.Either<ReadonlyArray<InputError>, GatewayConfiguration> {
  const decoded = Configuration.decode(value);
  if (E.isLeft(decoded)) return E.left(inputErrors(decoded.left));
  const issues = findReferenceIssues(decoded.right, environment);
  return issues.length > 0 ? E.left(issues) : decoded;
}

/** Finds issues between the parts: names without an entry, variables that are not set. */
function findReferenceIssues(configuration: GatewayConfiguration, environment: Environment): ReadonlyArray<InputError> {
  const { providers, models, auto, voices } = configuration;
  const found: InputError[] = [];
  const addIssue = (path: ReadonlyArray<string | number>, message: string) =>
    found.push({ pointer: pointerTo(path.map(String)), message });
  const mustHaveProvider = (path: ReadonlyArray<string | number>, provider: string) => {
    if (!Object.hasOwn(providers, provider))
      addIssue([...path, 'provider'], `names no provider: ${oneOfThe(providers)}`);
  };
  const mustHaveModel = (path: ReadonlyArray<string>, model: string | undefined) => {
    if (model !== undefined && !Object.hasOwn(models, model)) addIssue(path, `names no model: ${oneOfThe(models)}`);
  };

  for (const [name, provider] of Object.entries(providers)) {
    for (const [path, message] of findProviderIssues(provider, environment))
      addIssue(['providers', name, ...path], message);
  }
  for (const [name, { targets, fallbacks }] of Object.entries(models)) {
    if (name === 'auto') addIssue(['models', name], 'is taken: auto picks by the hint, see the section auto');
    for (const [index, { provider }] of targets.entries())
      mustHaveProvider(['models', name, 'targets', index], provider);
    for (const [index, { provider }] of fallbacks.entries())
      mustHaveProvider(['models', name, 'fallbacks', index], provider);
    if (targets.every(({ weight }) => weight === 0))
      addIssue(['models', name, 'targets'], 'must hold one with a weight above 0');
  }
  for (const hint of reasoningHints) {
    const model = auto.chat[hint];
    mustHaveModel(['auto', 'chat', hint], model);
    if (model !== undefined && !isChatModel(models[model], providers))
      addIssue(['auto', 'chat', hint], `names ${model}, which does not chat: its providers only speak and transcribe`);
  }
  const isHinted = reasoningHints.some((hint) => auto.chat[hint] !== undefined);
  if (isHinted && auto.chat.balanced === undefined)
    addIssue(
      ['auto', 'chat', 'balanced'],
      'is required: it is the model of auto without a hint, and of hints without one',
    );
  mustHaveModel(['auto', 'transcription'], auto.transcription);
  const holders = new Map<string, string>();
  for (const [name, voice] of Object.entries(voices)) {
    const { id, fallbacks } = voice;
    const places = fallbacks.map((fallback, index) => [['voices', name, 'fallbacks', index], fallback] as const);
    for (const [path, speaker] of [[['voices', name], voice] as const, ...places]) {
      mustHaveProvider(path, speaker.provider);
      const fault = checkVoice(speaker, providers[speaker.provider]);
      if (fault !== null) addIssue([...path, 'voice'], fault);
    }
    const other = id === undefined ? undefined : holders.get(id);
    if (other !== undefined) addIssue(['voices', name, 'id'], `is the id of ${other}, too`);
    if (id !== undefined) holders.set(id, name);
  }
  return found;
}

/** An unknown model is another issue, which is reported elsewhere. */
function isChatModel(
  model: ModelConfiguration | undefined,
  providers: Readonly<Record<string, ProviderConfiguration>>,
): boolean {
  const targets = model === undefined ? [] : [...model.targets, ...model.fallbacks];
  const kinds = targets.map(({ provider }) => providers[provider]?.kind);
  return kinds.every((kind) => kind === undefined) || kinds.some(canChat);
}

/** ElevenLabs has the voice in the path of the request. */
function checkVoice({ voice }: VoiceTarget, provider: ProviderConfiguration | undefined): string | null {
  return provider?.kind === 'elevenlabs' ? checkPathSegment(voice) : null;
}

type Issue = readonly [path: ReadonlyArray<string>, message: string];

function findProviderIssues(provider: ProviderConfiguration, environment: Environment): ReadonlyArray<Issue> {
  const { kind, apiKeyEnv, headers } = provider;
  const found: Issue[] = [];
  if (apiKeyEnv !== undefined && !environment[apiKeyEnv])
    found.push([['apiKeyEnv'], `names ${apiKeyEnv}, which is not set in the environment`]);
  else if (apiKeyEnv !== undefined && checkHeaderValue(environment[apiKeyEnv] ?? '') !== null)
    found.push([['apiKeyEnv'], `names ${apiKeyEnv}, whose value cannot stand in a header`]);
  for (const header of Object.keys(headers)) {
    const isKeys = header.toLowerCase() === 'authorization';
    const fault = isKeys ? 'is no place for secrets: use apiKeyEnv' : checkHeaderName(header);
    if (fault !== null) found.push([['headers', header], fault]);
  }
  if (kind === 'sandbox') {
    for (const name of ['baseUrl', 'apiKeyEnv', 'apiKeyHeader'] as const)
      if (provider[name] !== undefined) found.push([[name], 'means nothing to the sandbox, which calls nobody']);
  }
  return found;
}

function oneOfThe(known: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(known);
  return names.length === 0 ? 'there is none' : `there are ${names.join(', ')}`;
}

const maxNameLength = 200;

/** Values by names that the operator chooses. */
function byName<C extends t.Mixed>(codec: C) {
  return recordOf(codec, checkName);
}

/**
 * Checks a name that appears in headers, metrics and logs.
 * @returns what is wrong with it; null if it is valid
 */
function checkName(name: string): string | null {
  if (name === '' || name.length > maxNameLength) return `must have a name of 1 to ${maxNameLength} characters`;
  return /^[\x21-\x7e]+$/.test(name) ? null : 'must have a name of visible ASCII characters, without blanks';
}

function checkBaseUrl(value: string): string | null {
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

function checkHeaderName(value: string): string | null {
  if (!/^[!#$%&'*+.^`|~\w-]{1,100}$/.test(value)) return 'must be the name of a header';
  return ownHeaders.has(value.toLowerCase()) ? 'is written by the gateway itself' : null;
}

function checkHeaderValue(value: string): string | null {
  return /^[\x20-\x7e]*$/.test(value) ? null : 'must be visible ASCII';
}

function checkVisibleAscii(value: string): string | null {
  return /^[\x21-\x7e]+$/.test(value) ? null : 'must be visible ASCII characters, without blanks';
}
