import * as E from 'fp-ts/lib/Either.js';
import type { InputError } from '#domain/shared/failure.ts';
import { inputErrors } from '#exchange/input-errors.ts';
import { type ProviderProtocol, reasoningHints } from '#gateway/protocols/protocol.ts';
import {
  canChat,
  type ProviderConfiguration,
  providerKindOf,
  spokenProtocols,
} from '#gateway/providers/provider-kinds.ts';
import { checkHeaderName, checkHeaderValue } from '#gateway/providers/provider-settings.ts';
import { pointerTo } from '#shared/json/json-pointer.ts';
import {
  Configuration,
  type GatewayConfiguration,
  type ModelConfiguration,
  type VoiceTarget,
} from './configuration.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/**
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
      addIssue([...path, 'provider'], `must be the name of a provider: ${oneOfThe(providers)}`);
  };
  const mustHaveModel = (path: ReadonlyArray<string>, model: string | undefined) => {
    if (model !== undefined && !Object.hasOwn(models, model))
      addIssue(path, `must be the name of a model: ${oneOfThe(models)}`);
  };

  for (const [name, provider] of Object.entries(providers)) {
    for (const [path, message] of findProviderIssues(provider, environment))
      addIssue(['providers', name, ...path], message);
  }
  for (const [name, { targets, fallbacks }] of Object.entries(models)) {
    if (name === 'auto')
      addIssue(['models', name], 'is reserved: auto selects a model by the hint, see the section auto');
    for (const [list, entries] of Object.entries({ targets, fallbacks }))
      for (const [index, entry] of entries.entries()) {
        const path = ['models', name, list, index];
        mustHaveProvider(path, entry.provider);
        for (const [member, message] of findProtocolIssues(entry, providers)) addIssue([...path, ...member], message);
      }
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
  mustHaveModel(['auto', 'embeddings'], auto.embeddings);
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

/** True also for an unknown model, which is another issue that is reported elsewhere. */
function isChatModel(
  model: ModelConfiguration | undefined,
  providers: Readonly<Record<string, ProviderConfiguration>>,
): boolean {
  const targets = model === undefined ? [] : [...model.targets, ...model.fallbacks];
  const known = targets.flatMap(({ provider }) => providers[provider] ?? []);
  return known.length === 0 || known.some(canChat);
}

function checkVoice({ voice }: VoiceTarget, provider: ProviderConfiguration | undefined): string | null {
  return provider === undefined ? null : (providerKindOf(provider).checkVoice?.(voice) ?? null);
}

type Issue = readonly [path: ReadonlyArray<string>, message: string];

function findProviderIssues(provider: ProviderConfiguration, environment: Environment): ReadonlyArray<Issue> {
  const { apiKeyEnv, headers } = provider;
  const found: Issue[] = [];
  if (apiKeyEnv !== undefined && !environment[apiKeyEnv])
    found.push([['apiKeyEnv'], `names ${apiKeyEnv}, which is not set in the environment`]);
  else if (apiKeyEnv !== undefined && checkHeaderValue(environment[apiKeyEnv] ?? '') !== null)
    found.push([['apiKeyEnv'], `names ${apiKeyEnv}, whose value is not valid in a header`]);
  for (const header of Object.keys(headers)) {
    const isKeys = header.toLowerCase() === 'authorization';
    const fault = isKeys ? 'must not hold secrets: use apiKeyEnv' : checkHeaderName(header);
    if (fault !== null) found.push([['headers', header], fault]);
  }
  for (const [name, fault] of Object.entries(providerKindOf(provider).withoutEffect ?? {}))
    if (provider[name as keyof ProviderConfiguration] !== undefined) found.push([[name], fault]);
  return found;
}

/** Finds issues of the protocol that a target names. */
function findProtocolIssues(
  { provider: name, protocol, prefill = false }: TargetEntry,
  providers: GatewayConfiguration['providers'],
): ReadonlyArray<Issue> {
  const provider = providers[name];
  const spoken = provider === undefined ? [] : spokenProtocols(provider);
  if (protocol === undefined || provider === undefined) return [];
  const asked = spoken.find((each) => each.name === protocol);
  if (asked === undefined) return [[['protocol'], unspoken(protocol, name, provider, spoken)]];
  if (!prefill || asked.provider.cannotContinue !== true) return [];
  return [[['prefill'], `must be false: ${protocol} has no way to continue the beginning of an answer`]];
}

type TargetEntry = Pick<ModelConfiguration['targets'][number], 'provider' | 'protocol'> & {
  readonly prefill?: boolean;
};

function unspoken(
  protocol: string,
  name: string,
  provider: ProviderConfiguration,
  spoken: ReadonlyArray<ProviderProtocol>,
): string {
  const names = spoken.map((each) => each.name).join(', ');
  const setting = Object.entries(providerKindOf(provider).speaksWith ?? {}).find(([each]) => each === protocol)?.[1];
  const hint = setting === undefined ? '' : `, and with ${setting} in its entry ${protocol}`;
  return `must be a protocol of ${name}, which speaks ${names === '' ? 'none' : names}${hint}`;
}

function oneOfThe(known: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(known);
  return names.length === 0 ? 'there is none' : `there are ${names.join(', ')}`;
}
