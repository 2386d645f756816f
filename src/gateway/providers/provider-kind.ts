import type * as t from 'io-ts';
import type { MaxTokensMember, ReturnsReasoning } from '#gateway/protocols/target-model.ts';
import type { ConnectionFault } from '#gateway/transport/connection.ts';
import type { Provider, SpokenProtocols } from './provider.ts';
import type { ProviderSettings } from './provider-settings.ts';

/**
 * A kind of provider: the API that a provider has. A new kind is a file with one of these, and a line in
 * `provider-kinds.ts`.
 */
export interface ProviderKind<Own extends t.Props = Record<never, t.Mixed>> {
  /** Its name in the configuration. */
  readonly kind: string;
  /** The settings that only some kinds have. */
  readonly settings: Own;
  /** Returns none for a provider that gives no texts. */
  readonly protocols: (configuration: SettingsOf<Own>) => SpokenProtocols | readonly [];
  /** Null if no provider is called. */
  readonly address: ProviderAddress | null;
  readonly open: (opening: Opening<Own>) => Provider;
  /** Returns what is wrong with the name of a provider's voice; null for nothing. Missing if any name is right. */
  readonly checkVoice?: (voice: string) => string | null;
  /** What is wrong with settings that every kind has, if they have no effect here. */
  readonly withoutEffect?: { readonly [Setting in keyof ProviderSettings]?: string };
  /** The settings with which a provider speaks a protocol that it does not speak by default, by the protocol's name. */
  readonly speaksWith?: Readonly<Record<string, string>>;
  /** The member for the limit of tokens in a translated chat. Missing if its providers never see one. */
  readonly maxTokensMember?: (configuration: SettingsOf<Own>) => MaxTokensMember;
  /** What its providers are known to need back of earlier answers in a translated chat. Missing for nothing. */
  readonly neededBack?: (configuration: SettingsOf<Own>) => NeededBack;
  /** Whether its answers are invented, because no provider is called. */
  readonly isSandbox?: boolean;
}

/** Where providers of a kind are called. */
export interface ProviderAddress {
  /** The base URL of a provider whose configuration has none. */
  readonly baseUrl: string;
  /** Paths that the gateway appends to a base URL. In each, `…` is a segment that the call decides. */
  readonly paths: ReadonlyArray<string>;
}

/** What a provider needs back of earlier answers in a chat. */
export interface NeededBack {
  /** The default of `returnsReasoning`. */
  readonly reasoning?: ReturnsReasoning;
  /** The names of the models that refuse calls without Gemini's signatures. */
  readonly signaturesOf?: RegExp;
}

type SettingsOf<Own extends t.Props> = ProviderSettings & t.TypeOfProps<Own>;

/** What a provider is opened with. */
export interface Opening<Own extends t.Props = Record<never, t.Mixed>> {
  /** The operator's name for it. */
  readonly name: string;
  readonly configuration: SettingsOf<Own>;
  /** Null if the provider needs none. */
  readonly apiKey: string | null;
  /** Called for each connection that is closed because of what the provider sent. It must not throw. */
  readonly onFault: (fault: ConnectionFault) => void;
}
