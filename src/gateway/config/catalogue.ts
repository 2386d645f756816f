import * as E from 'fp-ts/lib/Either.js';
import type { ReasoningHint } from '#gateway/protocols/protocol.ts';
import type { MaxTokensMember, ReturnsReasoning, TargetModel } from '#gateway/protocols/target-model.ts';
import {
  canChat,
  defaultMaxTokensMember,
  neededBack,
  type ProviderConfiguration,
  providerKindOf,
} from '#gateway/providers/provider-kinds.ts';
import { defaultTimeouts, type StatedTimeouts, type Timeouts } from '#gateway/transport/timeouts.ts';
import type {
  GatewayConfiguration,
  ModelConfiguration,
  Price,
  VoiceConfiguration,
  VoiceTarget,
} from './configuration.ts';

export interface ModelTarget {
  /** `provider/model`, the name in responses, circuit breakers and records. */
  readonly id: string;
  readonly provider: string;
  /** The name of the model as the provider calls it. */
  readonly model: string;
  /** The protocol of its requests, whatever the client speaks; null if its provider decides. */
  readonly protocol: string | null;
  readonly timeouts: Timeouts;
  readonly statedTimeouts: Partial<Timeouts>;
  /** Its own price, or that of its catalogue entry; null without either. */
  readonly price: Price | null;
  /** Whether it can continue an answer whose beginning is the last message of a chat. */
  readonly prefill: boolean;
  /** Whether its vectors can be compared with those of the first target. */
  readonly interchangeable: boolean;
  /** Maximum number of tokens of an answer; null if the configuration does not say. */
  readonly maxOutputTokens: number | null;
  readonly maxTokens: MaxTokensMember;
  /** Whether it thinks before it answers. */
  readonly reasoning: boolean;
  readonly thinking: TargetModel['thinking'];
  /** Which of its earlier reasoning it gets back in a chat; null for what it made since the user's last text. */
  readonly returnsReasoning: ReturnsReasoning | null;
  /** Whether it refuses calls without Gemini's signatures. */
  readonly checksSignatures: boolean;
  /** Whether it is the built-in sandbox, whose answers are invented. */
  readonly isSandbox: boolean;
  /** The provider's own name of the voice; only in speech. */
  readonly voice?: string;
}

export interface WeightedTarget extends ModelTarget {
  readonly weight: number;
}

/** A model of the catalogue, or the models of a voice. */
export interface ModelRoute {
  /** The catalogue tag; the voice's name if a voice chose the model. */
  readonly name: string;
  readonly targets: ReadonlyArray<WeightedTarget>;
  /** The fallbacks in order. */
  readonly fallbacks: ReadonlyArray<ModelTarget>;
  readonly retries: number;
  /** If a target asks for a longer wait, in ms, the call goes to another target immediately. */
  readonly retryAfterMaxMs: number;
  readonly onStreamFailure: ModelConfiguration['onStreamFailure'];
  readonly askUsage: boolean;
  /** Time limit of all attempts and waits together, from the complete request on. */
  readonly totalMs: number;
  /**
   * Whether `totalMs` covers the fallbacks too, because the model or voice states it. Else each fallback has the total
   * time of its provider, from its first attempt on.
   */
  readonly isTotalShared: boolean;
}

export type CatalogueRefusal =
  | { readonly kind: 'unknown-model'; readonly model: string }
  /** The model is not known or does not support the operation. @property known the models that support it */
  | { readonly kind: 'cannot-chat'; readonly model: string; readonly known: ReadonlyArray<string> }
  /** The voice is not known. @property known the existing names */
  | { readonly kind: 'unknown-voice'; readonly voice: string; readonly known: ReadonlyArray<string> }
  | { readonly kind: 'cannot-speak'; readonly model: string; readonly voice: string };

interface Voice {
  /** The targets in the order of the attempts. */
  readonly targets: ReadonlyArray<VoiceTarget>;
  /** The route with the voice's own models. */
  readonly route: ModelRoute;
}

/** What the gateway serves. It is immutable: a new configuration makes a new catalogue. */
export class Catalogue {
  readonly #configuration: GatewayConfiguration;
  readonly #routes: ReadonlyMap<string, ModelRoute>;
  readonly #chatRoutes: ReadonlySet<ModelRoute>;
  readonly #voices: ReadonlyMap<string, Voice>;

  constructor(configuration: GatewayConfiguration) {
    this.#configuration = configuration;
    this.#routes = new Map(
      Object.entries(configuration.models).map(([name, model]) => [name, createModelRoute(name, model, configuration)]),
    );
    this.#chatRoutes = new Set(this.models().filter((route) => chats(route, configuration)));
    this.#voices = indexVoices(configuration);
  }

  get currency(): string {
    return this.#configuration.currency;
  }

  /** The models in the configuration's order. */
  models(): ReadonlyArray<ModelRoute> {
    return [...this.#routes.values()];
  }

  /** The models, then the models of voices. */
  routes(): ReadonlyArray<ModelRoute> {
    const ofVoices = new Set(Array.from(this.#voices.values(), ({ route }) => route));
    return [...this.#routes.values(), ...ofVoices];
  }

  targetIds(): ReadonlySet<string> {
    return new Set(this.routes().flatMap(({ targets, fallbacks }) => [...targets, ...fallbacks].map(({ id }) => id)));
  }

  /** Whether `auto` names any model. */
  get hasAuto(): boolean {
    const { chat, transcription, embeddings } = this.#configuration.auto;
    return (
      transcription !== undefined || embeddings !== undefined || Object.values(chat).some((tag) => tag !== undefined)
    );
  }

  /** @param model a catalogue tag, or `auto`, which picks by the hint */
  chat(model: string, hint: ReasoningHint): E.Either<CatalogueRefusal, ModelRoute> {
    const { chat } = this.#configuration.auto;
    const route = this.#route(model === 'auto' ? (chat[hint] ?? chat.balanced) : model, model);
    if (E.isLeft(route) || this.#chatRoutes.has(route.right)) return route;
    return E.left({ kind: 'cannot-chat', model, known: Array.from(this.#chatRoutes, ({ name }) => name) });
  }

  /** @param model a catalogue tag, or `auto` */
  transcription(model: string): E.Either<CatalogueRefusal, ModelRoute> {
    return this.#route(model === 'auto' ? this.#configuration.auto.transcription : model, model);
  }

  /** @param model a catalogue tag, or `auto` */
  embeddings(model: string): E.Either<CatalogueRefusal, ModelRoute> {
    const route = this.#route(model === 'auto' ? this.#configuration.auto.embeddings : model, model);
    return E.isLeft(route) ? route : E.right(withComparableVectors(route.right));
  }

  /**
   * @param model a catalogue tag; null or `auto` for the voice's own
   * @param voice name or id of an entry
   */
  speech(model: string | null, voice: string): E.Either<CatalogueRefusal, ModelRoute> {
    const found = this.#voices.get(voice);
    if (model === null || model === 'auto') {
      return found === undefined ? E.left(this.#unknown(voice)) : E.right(found.route);
    }
    const route = this.#routes.get(model);
    if (route === undefined) return E.left({ kind: 'unknown-model', model });
    const speaking = withVoices(route, (target) => this.#voiceOn(target, found, voice));
    if (speaking.targets.length > 0 || speaking.fallbacks.length > 0) return E.right(speaking);
    return E.left(found === undefined ? this.#unknown(voice) : { kind: 'cannot-speak', model, voice });
  }

  #unknown(voice: string): CatalogueRefusal {
    return { kind: 'unknown-voice', voice, known: Object.keys(this.#configuration.voices) };
  }

  /** The target's own name of the voice; null if it does not have the voice. */
  #voiceOn({ provider, model }: ModelTarget, found: Voice | undefined, asked: string): string | null {
    if (found !== undefined) {
      const there = found.targets.filter((speaker) => speaker.provider === provider);
      return (there.find((speaker) => speaker.model === model) ?? there[0])?.voice ?? null;
    }
    return this.#configuration.providers[provider]?.anyVoice ? asked : null;
  }

  #route(name: string | undefined, asked: string): E.Either<CatalogueRefusal, ModelRoute> {
    const route = name === undefined ? undefined : this.#routes.get(name);
    return route === undefined ? E.left({ kind: 'unknown-model', model: asked }) : E.right(route);
  }
}

function chats({ targets, fallbacks }: ModelRoute, { providers }: GatewayConfiguration): boolean {
  return [...targets, ...fallbacks].some(({ provider: name }) => {
    const provider = providers[name];
    return provider !== undefined && canChat(provider);
  });
}

/**
 * The targets in the order of the attempts: the weighted targets, drawn by weight, then the fallbacks.
 * @param random from 0 to 1, 1 excluded
 */
export function orderTargets(route: ModelRoute, random: () => number): ReadonlyArray<ModelTarget> {
  if (route.targets.length === 1) return [...route.targets, ...route.fallbacks];
  const left = [...route.targets];
  const ordered: ModelTarget[] = [];
  while (left.length > 0) {
    const index = pickByWeight(left, random());
    ordered.push(...left.splice(index, 1));
  }
  return [...ordered, ...route.fallbacks];
}

/** Draws by weight. Targets without weight come last. */
function pickByWeight(targets: ReadonlyArray<WeightedTarget>, random: number): number {
  let point = random * targets.reduce((sum, { weight }) => sum + weight, 0);
  const index = targets.findIndex(({ weight }) => {
    point -= weight;
    return point < 0;
  });
  return Math.max(0, index);
}

function createModelRoute(name: string, model: ModelConfiguration, configuration: GatewayConfiguration): ModelRoute {
  const target = (place: TargetReference, prefill: boolean) => createTarget(place, model, configuration, prefill);
  const targets = model.targets.map((each) => ({ ...target(each, false), weight: each.weight }));
  return {
    name,
    targets,
    fallbacks: model.fallbacks.map((each) => target(each, each.prefill)),
    retries: model.retries,
    retryAfterMaxMs: model.retryAfterMaxMs,
    onStreamFailure: model.onStreamFailure,
    askUsage: model.askUsage,
    totalMs: Math.max(...targets.map(({ timeouts }) => timeouts.totalMs)),
    isTotalShared: model.timeouts.totalMs !== undefined,
  };
}

function createVoiceRoute(name: string, voice: VoiceConfiguration, configuration: GatewayConfiguration): ModelRoute {
  const target = (speaker: VoiceTarget) => ({
    ...createTarget(speaker, voice, configuration, false),
    voice: speaker.voice,
  });
  const first = target(voice);
  return {
    name,
    targets: [{ ...first, weight: 1 }],
    fallbacks: voice.fallbacks.map(target),
    retries: voice.retries,
    retryAfterMaxMs: voice.retryAfterMaxMs,
    onStreamFailure: 'error',
    askUsage: false,
    totalMs: first.timeouts.totalMs,
    isTotalShared: voice.timeouts.totalMs !== undefined,
  };
}

interface TargetReference {
  readonly provider: string;
  readonly model: string;
  readonly protocol?: string | undefined;
  readonly price?: Price | undefined;
  readonly interchangeable?: boolean;
  readonly maxOutputTokens?: number | undefined;
  readonly maxTokens?: MaxTokensMember | undefined;
  readonly reasoning?: boolean;
  readonly thinking?: ModelTarget['thinking'];
  readonly returnsReasoning?: ReturnsReasoning | undefined;
}

function createTarget(
  reference: TargetReference,
  entry: Pick<ModelConfiguration, 'timeouts' | 'price'> &
    Partial<Pick<ModelConfiguration, 'maxTokens' | 'returnsReasoning'>>,
  configuration: GatewayConfiguration,
  prefill: boolean,
): ModelTarget {
  const { provider, model, price, interchangeable = false } = reference;
  const configured = configuration.providers[provider];
  const needs = configured === undefined ? {} : neededBack(configured);
  const statedTimeouts = { ...given(configured?.timeouts ?? {}), ...given(entry.timeouts) };
  return {
    id: `${provider}/${model}`,
    provider,
    model,
    protocol: reference.protocol ?? null,
    timeouts: { ...defaultTimeouts, ...statedTimeouts },
    statedTimeouts,
    price: price ?? entry.price ?? null,
    prefill,
    interchangeable,
    maxOutputTokens: reference.maxOutputTokens ?? null,
    maxTokens:
      saidMaxTokens(reference, entry, configured) ?? (configured && defaultMaxTokensMember(configured)) ?? 'max_tokens',
    reasoning: reference.reasoning ?? false,
    thinking: reference.thinking ?? 'none',
    returnsReasoning: reference.returnsReasoning ?? entry.returnsReasoning ?? needs.reasoning ?? null,
    checksSignatures: needs.signaturesOf?.test(model) === true,
    isSandbox: configured !== undefined && providerKindOf(configured).isSandbox === true,
  };
}

/**
 * The member for the limit of tokens: what the target says, else its model, else its provider; undefined if none does.
 */
export function saidMaxTokens(
  target: Pick<TargetReference, 'maxTokens'>,
  model: Partial<Pick<ModelConfiguration, 'maxTokens'>>,
  provider: ProviderConfiguration | undefined,
): MaxTokensMember | undefined {
  return target.maxTokens ?? model.maxTokens ?? provider?.maxTokens;
}

function given(timeouts: Partial<StatedTimeouts>): Partial<Timeouts> {
  return Object.fromEntries(Object.entries(timeouts).filter(([, value]) => value !== undefined));
}

/** Vectors of different models cannot be compared, so the first target in the list decides the model of all. */
function withComparableVectors(route: ModelRoute): ModelRoute {
  const passedOver = new Set<ModelTarget>(passedOverForEmbeddings(route));
  const isAsked = (target: ModelTarget) => !passedOver.has(target);
  return { ...route, targets: route.targets.filter(isAsked), fallbacks: route.fallbacks.filter(isAsked) };
}

/** The targets that serve no embedding, because their vectors differ from those of the first one. */
export function passedOverForEmbeddings({ targets, fallbacks }: ModelRoute): ReadonlyArray<ModelTarget> {
  const [first] = targets;
  return [...targets, ...fallbacks].filter(({ model, interchangeable }) => model !== first?.model && !interchangeable);
}

function withVoices(route: ModelRoute, voiceOn: (target: ModelTarget) => string | null): ModelRoute {
  const speaking = <Kind extends ModelTarget>(targets: ReadonlyArray<Kind>): ReadonlyArray<Kind> =>
    targets.flatMap((target) => {
      const voice = voiceOn(target);
      return voice === null ? [] : [{ ...target, voice }];
    });
  return { ...route, targets: speaking(route.targets), fallbacks: speaking(route.fallbacks) };
}

/** The voices by name and id. A name has priority over another entry's id. */
function indexVoices(configuration: GatewayConfiguration): ReadonlyMap<string, Voice> {
  const all = Object.entries(configuration.voices).map(([name, voice]) => ({
    name,
    id: voice.id ?? name,
    voice: { targets: [voice, ...voice.fallbacks], route: createVoiceRoute(name, voice, configuration) },
  }));
  return new Map([
    ...all.map(({ id, voice }) => [id, voice] as const),
    ...all.map(({ name, voice }) => [name, voice] as const),
  ]);
}
