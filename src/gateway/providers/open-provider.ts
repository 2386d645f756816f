import type { ProviderConfiguration } from '../configuration.ts';
import { HttpTransport } from '../http-transport.ts';
import type { Provider } from '../provider.ts';
import { ElevenLabs, elevenLabsBaseUrl } from './elevenlabs.ts';
import { defaultBaseUrl, OpenAiCompatible } from './openai-compatible.ts';
import { Sandbox } from './sandbox.ts';

/** Opens a provider of any kind; the place where kinds are known by name. */
export function openProvider(name: string, configuration: ProviderConfiguration, apiKey: string | null): Provider {
  switch (configuration.kind) {
    case 'openai-compatible':
      return new OpenAiCompatible(name, configuration, apiKey, transportTo(configuration.baseUrl ?? defaultBaseUrl));
    case 'elevenlabs':
      return new ElevenLabs(name, configuration, apiKey, transportTo(configuration.baseUrl ?? elevenLabsBaseUrl));
    case 'sandbox':
      return new Sandbox(name);
  }
}

function transportTo(baseUrl: string): HttpTransport {
  return new HttpTransport(new URL(baseUrl).origin);
}
