import type * as t from 'io-ts';
import type { MaxTokensMember, ReturnsReasoning } from '#gateway/protocols/target-model.ts';
import type { ConnectionFault } from '#gateway/transport/provider-connection.ts';
import type { Provider, SpokenProtocols } from './provider.ts';
import type { ProviderSettings } from './provider-settings.ts';

/**
 * A kind of provider: the API that a provider has. A new kind is a file with one of these, and a line in
 * `provider-kinds.ts`.
 */
export interface ProviderKind<Own extends t.Props = Record<never, t.Mixed>> {
  readonly kind: string;
  /** The settings that only some kinds have. */
  readonly settings: Own;
  /** The protocols; none for a provider that gives no texts. */
  readonly protocols: (configuration: SettingsOf<Own>) => SpokenProtocols | readonly [];
  /** The address; null if no provider is called. */
  readonly address: ProviderAddress | null;
  readonly open: (opening: Opening<Own>) => Provider;
  /** What is wrong with the name of a provider's voice. Missing if any name is right. */
  readonly checkVoice?: (voice: string) => string | null;
  /** What is wrong with settings that every kind has, if they have no effect here. */
  readonly withoutEffect?: { readonly [Setting in keyof ProviderSettings]?: string };
  /** The settings with which a provider speaks a protocol that it does not speak by default, by the protocol's name. */
  readonly speaksWith?: Readonly<Record<string, string>>;
  /** The member for the limit of tokens in a translated chat. Missing if its providers never see one. */
  readonly maxTokensMember?: (configuration: SettingsOf<Own>) => MaxTokensMember;
  /** What a translated chat gets back. Missing for nothing. */
  readonly neededBack?: (configuration: SettingsOf<Own>) => NeededBack;
  /** True if its answers are invented, because no provider is called. */
  readonly isSandbox?: boolean;
}

export interface ProviderAddress {
  /** The base URL if the configuration has none. */
  readonly baseUrl: string;
  /** Paths that the gateway appends to a base URL. In each, `…` is a segment that the call decides. */
  readonly paths: ReadonlyArray<string>;
}

export interface NeededBack {
  /** The default of `returnsReasoning`. */
  readonly reasoning?: ReturnsReasoning;
  /** Names of models that refuse calls without Gemini's signatures. */
  readonly signaturesOf?: RegExp;
}

type SettingsOf<Own extends t.Props> = ProviderSettings & t.TypeOfProps<Own>;

export interface Opening<Own extends t.Props = Record<never, t.Mixed>> {
  readonly name: string;
  readonly configuration: SettingsOf<Own>;
  /** The key; null if the provider needs none. */
  readonly apiKey: string | null;
  /** Called when a connection is closed because of what the provider sent. It must not throw. */
  readonly onFault: (fault: ConnectionFault) => void;
}
