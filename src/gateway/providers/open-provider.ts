import type { Catalogue } from '#gateway/config/catalogue.ts';
import type { ProviderConfiguration } from '#gateway/config/configuration.ts';
import type { ConnectionFault } from '#gateway/transport/connection.ts';
import { HttpTransport } from '#gateway/transport/http-transport.ts';
import { Anthropic, anthropicBaseUrl } from './anthropic.ts';
import { ElevenLabs, elevenLabsBaseUrl } from './elevenlabs.ts';
import { defaultBaseUrl, OpenAiCompatible } from './openai-compatible.ts';
import type { Provider } from './provider.ts';
import { Sandbox } from './sandbox/sandbox.ts';

/**
 * Opens a provider of any kind. Only this file maps the names of kinds to classes.
 * @param onFault called for each connection that is closed because of what the provider sent. It must not throw
 */
export function openProvider(
  name: string,
  configuration: ProviderConfiguration,
  apiKey: string | null,
  onFault: OnFault,
): Provider {
  switch (configuration.kind) {
    case 'openai-compatible':
      return new OpenAiCompatible(name, configuration, apiKey, transportTo(configuration, defaultBaseUrl, onFault));
    case 'anthropic':
      return new Anthropic(name, configuration, apiKey, transportTo(configuration, anthropicBaseUrl, onFault));
    case 'elevenlabs':
      return new ElevenLabs(name, configuration, apiKey, transportTo(configuration, elevenLabsBaseUrl, onFault));
    case 'sandbox':
      return new Sandbox(name);
  }
}

type OnFault = (fault: ConnectionFault) => void;

/** The shortest limit for connecting, because a model may have a longer timeout than its provider. */
const minConnectMs = 15_000;

function transportTo({ baseUrl, timeouts }: ProviderConfiguration, byDefault: string, onFault: OnFault): HttpTransport {
  const connectMs = Math.max(minConnectMs, timeouts.connectMs ?? 0);
  return new HttpTransport(new URL(baseUrl ?? byDefault).origin, connectMs, onFault);
}

/** The parts that one configuration creates. A call uses the same snapshot until it ends. */
export interface ConfigurationSnapshot {
  readonly catalogue: Catalogue;
  readonly providers: ReadonlyMap<string, Provider>;
  /** How many calls use it. Their providers stay open. */
  runningCalls: number;
}
