import type * as t from 'io-ts';
import type { ProviderProtocol } from '#gateway/protocols/protocol.ts';
import type { MaxTokensMember } from '#gateway/protocols/target-model.ts';
import { anthropic } from './anthropic.ts';
import { elevenLabs } from './elevenlabs.ts';
import { openAiCompatible } from './openai-compatible.ts';
import type { Provider } from './provider.ts';
import type { NeededBack, Opening } from './provider-kind.ts';
import { providerSettings } from './provider-settings.ts';
import { sandbox } from './sandbox/sandbox.ts';

/** The kinds in the order in which an operator reads them. */
export const providerKinds = [openAiCompatible, anthropic, elevenLabs, sandbox] as const;
type Kind = (typeof providerKinds)[number];

type OwnSettings<Kinds> = Kinds extends readonly [{ readonly settings: infer Own }, ...infer Others]
  ? Own & OwnSettings<Others>
  : Record<never, t.Mixed>;
const ownSettings = Object.assign({}, ...providerKinds.map(({ settings }) => settings)) as OwnSettings<
  typeof providerKinds
>;

const [first, ...others] = providerKinds;

/** The settings of a provider. One that only some kinds have is valid for all. */
export const ConfiguredProvider = providerSettings([first.kind, ...others.map(({ kind }) => kind)], ownSettings);
export type ProviderConfiguration = t.TypeOf<typeof ConfiguredProvider>;

export function providerKindOf({ kind: name }: Pick<ProviderConfiguration, 'kind'>): Kind {
  const found = providerKinds.find(({ kind }) => kind === name);
  if (found === undefined) throw new Error(`there is no kind of provider with the name ${name}`);
  return found;
}

export function openProvider(opening: Opening & { readonly configuration: ProviderConfiguration }): Provider {
  return providerKindOf(opening.configuration).open(opening);
}

/** The protocols; none if it gives no texts. */
export function spokenProtocols(configuration: ProviderConfiguration): ReadonlyArray<ProviderProtocol> {
  return providerKindOf(configuration).protocols(configuration);
}

export function canChat(configuration: ProviderConfiguration): boolean {
  return spokenProtocols(configuration).length > 0;
}

/** The member in a translated chat; null if the provider never sees one. */
export function defaultMaxTokensMember(configuration: ProviderConfiguration): MaxTokensMember | null {
  return providerKindOf(configuration).maxTokensMember?.(configuration) ?? null;
}

export function neededBack(configuration: ProviderConfiguration): NeededBack {
  return providerKindOf(configuration).neededBack?.(configuration) ?? {};
}
