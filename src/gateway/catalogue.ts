import * as E from 'fp-ts/lib/Either.js';
import {
  defaultTimeouts,
  type GatewayConfiguration,
  type ModelConfiguration,
  type ReasoningHint,
  type Timeouts,
  type TimeoutsConfiguration,
} from './configuration.ts';

/** A model of a provider: where a call can go. */
export interface Target {
  /** `provider/model`: what answers, breakers and records call it. */
  readonly id: string;
  readonly provider: string;
  /** As the provider calls it. */
  readonly model: string;
  readonly timeouts: Timeouts;
  /** Whether it goes on from an answer's beginning when a chat ends with it. */
  readonly prefill: boolean;
  /** Its answers are made up by the built-in sandbox. */
  readonly isSandbox: boolean;
  /** In speech, the provider's own voice. */
  readonly voice?: string;
}

export interface WeightedTarget extends Target {
  readonly weight: number;
}

export type Price = NonNullable<ModelConfiguration['price']>;

/** How a call is served: the catalogue's entry, or what a voice brings by itself. */
export interface Route {
  /** The catalogue tag; the voice's name where a voice chose the model. */
  readonly name: string;
  readonly targets: ReadonlyArray<WeightedTarget>;
  /** In order. */
  readonly fallbacks: ReadonlyArray<Target>;
  /** Further tries on the same target. */
  readonly retries: number;
  readonly onStreamFailure: ModelConfiguration['onStreamFailure'];
  readonly askUsage: boolean;
  readonly price: Price | null;
  /** For all attempts and waits together. */
  readonly totalMs: number;
}

/** Why the catalogue has nothing for a call. */
export type CatalogueRefusal =
  | { readonly kind: 'unknown-model'; readonly model: string }
  /** @property known the names of those there are */
  | { readonly kind: 'unknown-voice'; readonly voice: string; readonly known: ReadonlyArray<string> }
  | { readonly kind: 'cannot-speak'; readonly model: string; readonly voice: string };

interface Voice {
  readonly name: string;
  readonly provider: string;
  readonly voice: string;
  readonly model: string;
}

/** What a configuration offers. Immutable: a new configuration makes a new one. */
export class Catalogue {
  readonly #configuration: GatewayConfiguration;
  readonly #routes: ReadonlyMap<string, Route>;
  readonly #voices: ReadonlyMap<string, Voice>;

  constructor(configuration: GatewayConfiguration) {
    this.#configuration = configuration;
    this.#routes = new Map(
      Object.entries(configuration.models).map(([name, model]) => [name, routeOf(name, model, configuration)]),
    );
    this.#voices = voicesOf(configuration);
  }

  /** Every tag with the providers that serve it, in the configuration's order. */
  models(): ReadonlyArray<Route> {
    return [...this.#routes.values()];
  }

  /** Whether `auto` stands for anything. */
  get hasAuto(): boolean {
    const { chat, transcription } = this.#configuration.auto;
    return transcription !== undefined || Object.values(chat).some((tag) => tag !== undefined);
  }

  /** @param model a catalogue tag, or `auto`, which picks by the hint */
  chat(model: string, hint: ReasoningHint): E.Either<CatalogueRefusal, Route> {
    const { chat } = this.#configuration.auto;
    return this.#route(model === 'auto' ? (chat[hint] ?? chat.balanced) : model, model);
  }

  /** @param model a catalogue tag, or `auto` */
  transcription(model: string): E.Either<CatalogueRefusal, Route> {
    return this.#route(model === 'auto' ? this.#configuration.auto.transcription : model, model);
  }

  /**
   * @param model a catalogue tag; null or `auto` for the voice's own
   * @param voice an entry's name or its id
   */
  speech(model: string | null, voice: string): E.Either<CatalogueRefusal, Route> {
    const found = this.#voices.get(voice);
    if (model === null || model === 'auto') {
      return found === undefined ? E.left(this.#unknown(voice)) : E.right(routeOfVoice(found, this.#configuration));
    }
    const route = this.#routes.get(model);
    if (route === undefined) return E.left({ kind: 'unknown-model', model });
    const speaking = spokenBy(route, (target) => this.#voiceOn(target, found, voice));
    if (speaking.targets.length > 0 || speaking.fallbacks.length > 0) return E.right(speaking);
    return E.left(found === undefined ? this.#unknown(voice) : { kind: 'cannot-speak', model, voice });
  }

  #unknown(voice: string): CatalogueRefusal {
    return { kind: 'unknown-voice', voice, known: Object.keys(this.#configuration.voices) };
  }

  /** What a target calls a voice; null where it has none of it. */
  #voiceOn({ provider }: Target, found: Voice | undefined, asked: string): string | null {
    if (found !== undefined) return found.provider === provider ? found.voice : null;
    return this.#configuration.providers[provider]?.anyVoice ? asked : null;
  }

  #route(name: string | undefined, asked: string): E.Either<CatalogueRefusal, Route> {
    const route = name === undefined ? undefined : this.#routes.get(name);
    return route === undefined ? E.left({ kind: 'unknown-model', model: asked }) : E.right(route);
  }
}

/**
 * The targets of a route in the order in which they are tried: one by weight, the others by weight, the fallbacks.
 * @param random from 0 to 1, 1 excluded
 */
export function inOrder(route: Route, random: () => number): ReadonlyArray<Target> {
  if (route.targets.length === 1) return [...route.targets, ...route.fallbacks];
  const left = [...route.targets];
  const ordered: Target[] = [];
  while (left.length > 0) {
    const index = drawn(left, random());
    ordered.push(...left.splice(index, 1));
  }
  return [...ordered, ...route.fallbacks];
}

/** Those without weight come only when no other is left. */
function drawn(targets: ReadonlyArray<WeightedTarget>, random: number): number {
  let point = random * targets.reduce((sum, { weight }) => sum + weight, 0);
  const index = targets.findIndex(({ weight }) => {
    point -= weight;
    return point < 0;
  });
  return Math.max(0, index);
}

function routeOf(name: string, model: ModelConfiguration, configuration: GatewayConfiguration): Route {
  const target = ({ provider, model: providerModel }: { provider: string; model: string }, prefill: boolean) =>
    targetOf(provider, providerModel, configuration, model.timeouts, prefill);
  const targets = model.targets.map((each) => ({ ...target(each, false), weight: each.weight }));
  return {
    name,
    targets,
    fallbacks: model.fallbacks.map((each) => target(each, each.prefill)),
    retries: model.retries,
    onStreamFailure: model.onStreamFailure,
    askUsage: model.askUsage,
    price: model.price ?? null,
    totalMs: Math.max(...targets.map(({ timeouts }) => timeouts.totalMs)),
  };
}

const voiceRetries = 2;

function routeOfVoice({ name, provider, model, voice }: Voice, configuration: GatewayConfiguration): Route {
  const target = targetOf(provider, model, configuration, {}, false);
  return {
    name,
    targets: [{ ...target, voice, weight: 1 }],
    fallbacks: [],
    retries: voiceRetries,
    onStreamFailure: 'error',
    askUsage: false,
    price: null,
    totalMs: target.timeouts.totalMs,
  };
}

function targetOf(
  provider: string,
  model: string,
  configuration: GatewayConfiguration,
  ofModel: Partial<TimeoutsConfiguration>,
  prefill: boolean,
): Target {
  const ofProvider = configuration.providers[provider]?.timeouts ?? {};
  const timeouts = { ...defaultTimeouts, ...given(ofProvider), ...given(ofModel) };
  const isSandbox = configuration.providers[provider]?.kind === 'sandbox';
  return { id: `${provider}/${model}`, provider, model, timeouts, prefill, isSandbox };
}

function given(timeouts: Partial<TimeoutsConfiguration>): Partial<Timeouts> {
  return Object.fromEntries(Object.entries(timeouts).filter(([, value]) => value !== undefined));
}

function spokenBy(route: Route, voiceOn: (target: Target) => string | null): Route {
  const speaking = <Kind extends Target>(targets: ReadonlyArray<Kind>): ReadonlyArray<Kind> =>
    targets.flatMap((target) => {
      const voice = voiceOn(target);
      return voice === null ? [] : [{ ...target, voice }];
    });
  return { ...route, targets: speaking(route.targets), fallbacks: speaking(route.fallbacks) };
}

/** Voices by name and by id; a name goes before another entry's id. */
function voicesOf({ voices }: GatewayConfiguration): ReadonlyMap<string, Voice> {
  const all = Object.entries(voices).map(([name, voice]) => ({ name, ...voice }));
  return new Map([
    ...all.flatMap((voice) => (voice.id === undefined ? [] : [[voice.id, voice] as const])),
    ...all.map((voice) => [voice.name, voice] as const),
  ]);
}
