import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { defaultLimitFactor } from '#application/access/limit-levels.ts';
import { inputErrors } from '#application/operations/input-errors.ts';
import { checked, flag, integer, list, oneOf, text, withDefault } from '#domain/codecs/codecs.ts';
import type { InputError } from '#domain/shared/failure.ts';
import { checkPathSegment } from '#gateway/providers/path-segment.ts';
import { maxRetryAfterMs } from '#gateway/relay/retry-after.ts';
import { pointerTo } from '#shared/json/json-pointer.ts';
import { recordOf, type StrictObjectOf, strictObject } from './strict-object.ts';

const milliseconds = integer(1, 24 * 60 * 60 * 1_000);

/** A limit that is left out is the provider's, then `defaultTimeouts`'. */
const Timeouts = strictObject({
  connectMs: optional(milliseconds),
  headersMs: optional(milliseconds),
  firstContentMs: optional(milliseconds),
  idleMs: optional(milliseconds),
  totalMs: optional(milliseconds),
});

/** How long each phase of a call may take, in milliseconds. */
export interface Timeouts {
  /** Until there is a connection, waiting for a free one included. */
  readonly connectMs: number;
  /** From the request sent to the answer's headers. */
  readonly headersMs: number;
  /** From the request sent to the first content of the answer. */
  readonly firstContentMs: number;
  /** Between two arrivals of bytes after the first content. */
  readonly idleMs: number;
  /** From the caller's whole request to the end of the answer, all attempts and waits included. */
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

const Provider = strictObject({
  kind: oneOf(...providerKinds),
  baseUrl: optional(checkedText(text({ min: 1, max: 2_000 }), checkBaseUrl)),
  apiKeyEnv: optional(checkedText(text(), (name) => (/^[A-Za-z_]\w*$/.test(name) ? null : 'must name a variable'))),
  /** The header that carries the key as it is; by default `authorization`, as a bearer token. */
  apiKeyHeader: optional(checkedText(text(), checkHeaderName)),
  /** Sent with every call. No place for secrets: `apiKeyEnv` is. */
  headers: withDefaultSettings(recordOf(checkedText(text({ max: 2_000 }), checkHeaderValue))),
  anyVoice: withDefault(flag, false),
  timeouts: withDefaultSettings(Timeouts),
});

const modelName = checkedText(text({ min: 1, max: 500 }), checkVisibleAscii);

const upToAMillion = number('must be a number from 0 to 1000000', 0, 1_000_000);

/** What a provider bills by, in a currency of the operator's own. What is left out is not billed. */
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
/** How long a wait a target may ask for, in ms, before another one is asked instead. */
const retryAfterMax = withDefault(integer(0, maxRetryAfterMs), 2_000);

const Model = strictObject({
  targets: list(Target, { min: 1 }),
  fallbacks: withDefaultSettings(list(Fallback), []),
  retries,
  retryAfterMaxMs: retryAfterMax,
  onStreamFailure: withDefault(oneOf('error', 'continue', 'whole'), 'error'),
  askUsage: withDefault(flag, false),
  timeouts: withDefaultSettings(Timeouts),
  price: optional(Price),
});

/** The hints by which `auto` picks. */
export const reasoningHints = ['fast', 'balanced', 'smart', 'turbo'] as const;
export type ReasoningHint = (typeof reasoningHints)[number];

const Auto = strictObject({
  chat: withDefaultSettings(
    strictObject({
      fast: optional(text({ min: 1 })),
      balanced: optional(text({ min: 1 })),
      smart: optional(text({ min: 1 })),
      turbo: optional(text({ min: 1 })),
    }),
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
  fallbacks: withDefaultSettings(list(strictObject({ ...voiceTarget, price: optional(Price) })), []),
  retries,
  retryAfterMaxMs: retryAfterMax,
  timeouts: withDefaultSettings(Timeouts),
  price: optional(Price),
});

const Limits = strictObject({
  requestsPerMinute: optional(integer(1, 1_000_000_000)),
  callsAtOnce: optional(integer(1, 1_000_000)),
  organizationFactor: withDefault(integer(1, 1_000_000), defaultLimitFactor),
  partnerFactor: withDefault(integer(1, 1_000_000), defaultLimitFactor),
});

const Configuration = strictObject({
  providers: withDefaultSettings(recordOf(Provider)),
  models: withDefaultSettings(recordOf(Model)),
  auto: withDefaultSettings(Auto),
  voices: withDefaultSettings(recordOf(Voice)),
  limits: withDefaultSettings(Limits),
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

/** Finds what is wrong between the parts: names without an entry, variables that are not set. */
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
  for (const hint of reasoningHints) mustHaveModel(['auto', 'chat', hint], auto.chat[hint]);
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

function optional<A>(codec: t.Type<A, unknown, unknown>): t.Type<A | undefined, unknown, unknown> {
  return new t.Type<A | undefined, unknown, unknown>(
    codec.name,
    (value): value is A | undefined => value === undefined || codec.is(value),
    (value, context) => (value === undefined ? t.success(undefined) : codec.validate(value, context)),
    t.identity,
  );
}

/** Takes the defaults of settings, or another value, where they are left out. */
function withDefaultSettings<A>(
  codec: t.Type<A, unknown, unknown>,
  byDefault: unknown = {},
): t.Type<A, unknown, unknown> {
  return new t.Type<A, unknown, unknown>(
    codec.name,
    codec.is,
    (value, context) => codec.validate(value === undefined ? byDefault : value, context),
    t.identity,
  );
}

function number(fault: string, least: number, most: number): t.Type<number, number, unknown> {
  const is = (value: unknown): value is number => typeof value === 'number' && value >= least && value <= most;
  return new t.Type<number, number, unknown>(
    'number',
    is,
    (value, context) => (is(value) ? t.success(value) : t.failure(value, context, fault)),
    t.identity,
  );
}

/** A text that a further check must pass. @param check what is wrong with a value; null for nothing */
function checkedText(codec: t.Type<string>, check: (value: string) => string | null): t.Type<string, string, unknown> {
  return checked(codec, (value) => {
    const message = check(value);
    return message === null ? [] : [{ path: [], value, message }];
  });
}

function checkBaseUrl(value: string): string | null {
  const url = URL.parse(value);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return 'must be an http or https URL';
  if (url.username !== '' || url.password !== '') return 'must hold no user or password: use apiKeyEnv';
  return url.hash === '' ? null : 'must have no fragment';
}

/** What every call writes by itself, and what is HTTP's own. */
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
