import type { ProviderConfiguration } from '#gateway/config/configuration.ts';
import type { Transport, UpstreamRequest } from '#gateway/transport/transport.ts';
import {
  ownHeaders,
  type Provider,
  type ProviderBackgroundRequest,
  type ProviderRequest,
  type ProviderSpeech,
  type ProviderText,
  type ProviderTranscription,
  type ProviderWhole,
  redactorOf,
} from './provider.ts';
import type { SecretRedactor } from './secret-redactor.ts';

/** The default base URL of OpenAI. */
export const defaultBaseUrl = 'https://api.openai.com/v1';

/** A provider with OpenAI's API under any base URL. Bodies and answers pass unchanged. */
export class OpenAiCompatible implements Provider {
  readonly name: string;
  readonly transport: Transport;
  readonly redactor: SecretRedactor;
  readonly protocols: readonly ['openai-chat'] | readonly ['openai-chat', 'openai-responses'];
  readonly hostedTools: boolean;
  readonly wholePaths = ['/embeddings'] as const;
  readonly #headers: ReadonlyArray<string>;
  readonly #chatHeaders: ReadonlyArray<string>;
  readonly #chatStreamHeaders: ReadonlyArray<string>;
  readonly #textPaths: Readonly<Record<'openai-chat' | 'openai-responses', string>>;
  readonly #base: URL;

  /** @param apiKey null if the provider needs none */
  constructor(name: string, configuration: ProviderConfiguration, apiKey: string | null, transport: Transport) {
    this.name = name;
    this.transport = transport;
    this.redactor = redactorOf(configuration, apiKey);
    this.#base = new URL(configuration.baseUrl ?? defaultBaseUrl);
    const isOpenAi = this.#base.origin === new URL(defaultBaseUrl).origin;
    this.protocols = (configuration.responses ?? isOpenAi) ? ['openai-chat', 'openai-responses'] : ['openai-chat'];
    this.hostedTools = configuration.hostedTools;
    this.#headers = ownHeaders(configuration, keyHeaders(apiKey, configuration.apiKeyHeader));
    this.#chatHeaders = this.#headersFor('application/json', 'application/json');
    this.#chatStreamHeaders = this.#headersFor('application/json', 'text/event-stream');
    this.#textPaths = {
      'openai-chat': this.#path('/chat/completions'),
      'openai-responses': this.#path('/responses'),
    };
  }

  text({ protocol, body, streams, forwarded }: ProviderText): UpstreamRequest {
    const headers = [...(streams ? this.#chatStreamHeaders : this.#chatHeaders), ...forwarded];
    if (protocol === 'anthropic-messages') throw new Error(`${this.name} does not speak ${protocol}`);
    return { path: this.#textPaths[protocol], headers, body, streams };
  }

  backgroundResponse({ action, id, query, streams }: ProviderBackgroundRequest): UpstreamRequest {
    const under = `/responses/${encodeURIComponent(id)}${action === 'cancel' ? '/cancel' : ''}`;
    const headers = streams ? this.#chatStreamHeaders : this.#chatHeaders;
    return { ...methods[action], path: this.#path(under, query), headers, body: noBody, streams };
  }

  whole({ path, body, forwarded }: ProviderWhole): ProviderRequest {
    return asItCame({
      path: this.#path(path),
      headers: [...this.#chatHeaders, ...forwarded],
      body,
      streams: false,
    });
  }

  speech({ body, forwarded }: ProviderSpeech): ProviderRequest {
    const headers = [...this.#headersFor('application/json', '*/*'), ...forwarded];
    return asItCame({ path: this.#path('/audio/speech'), headers, body, streams: true });
  }

  transcription({ body, contentType, streams, forwarded }: ProviderTranscription): ProviderRequest {
    const headers = [...this.#headersFor(contentType, '*/*'), ...forwarded];
    return asItCame({ path: this.#path('/audio/transcriptions'), headers, body, streams });
  }

  /** @param query that of the client, with its question mark */
  #path(under: string, query = ''): string {
    const { pathname, search } = this.#base;
    return pathname.replace(/\/$/, '') + under + (search === '' ? query : `${search}${query.replace('?', '&')}`);
  }

  #headersFor(contentType: string, accept: string): ReadonlyArray<string> {
    return [...this.#headers, 'content-type', contentType, 'accept', accept];
  }
}

const noBody = Buffer.alloc(0);
const methods = { get: { method: 'GET' }, delete: { method: 'DELETE' }, cancel: {} } as const;

function asItCame(request: ProviderRequest['request']): ProviderRequest {
  return { request, translator: null };
}

function keyHeaders(apiKey: string | null, header: string | undefined): ReadonlyArray<string> {
  if (apiKey === null) return [];
  return header === undefined || header.toLowerCase() === 'authorization'
    ? ['authorization', `Bearer ${apiKey}`]
    : [header, apiKey];
}
