import type * as t from 'io-ts';
import { openAiChat } from '#gateway/protocols/openai-chat/openai-chat.ts';
import { openAiResponses, responsesPath } from '#gateway/protocols/openai-responses/openai-responses.ts';
import type { UpstreamRequest } from '#gateway/transport/transport.ts';
import { flag } from '#shared/codecs/choice.ts';
import { optional, withDefault } from '#shared/codecs/default.ts';
import { HttpProvider, ownHeaders } from './http-provider.ts';
import type {
  Provider,
  ProviderBackgroundRequest,
  ProviderRequest,
  ProviderSpeech,
  ProviderText,
  ProviderTranscription,
  ProviderWhole,
  SpokenProtocols,
} from './provider.ts';
import type { NeededBack, Opening, ProviderAddress, ProviderKind } from './provider-kind.ts';
import type { ProviderSettings } from './provider-settings.ts';

const address: ProviderAddress = {
  baseUrl: 'https://api.openai.com/v1',
  paths: ['/chat/completions', responsesPath, '/embeddings', '/audio/speech', '/audio/transcriptions'],
};

const settings = {
  /** Whether it has `/responses`. Default: whether it is OpenAI. */
  responses: optional(flag),
  /** Whether it runs OpenAI's own tools. */
  hostedTools: withDefault(flag, false),
};

/** Providers of OpenAI's API under any base URL. Bodies and answers pass unchanged. */
export const openAiCompatible: ProviderKind<typeof settings> = {
  kind: 'openai-compatible',
  settings,
  protocols: spokenProtocols,
  address,
  speaksWith: { [openAiResponses.name]: '"responses": true' },
  open: (opening) => new OpenAiCompatible(opening),
  /**
   * OpenAI's newer models refuse `max_tokens` (https://platform.openai.com/docs/api-reference/chat/create), and many
   * other servers know no `max_completion_tokens`.
   */
  maxTokensMember: ({ baseUrl = address.baseUrl }) =>
    openAiHost.test(new URL(baseUrl).hostname) ? 'max_completion_tokens' : 'max_tokens',
  neededBack,
};

/** The own APIs of DeepSeek and of Kimi. */
const rememberingHost = /(^|\.)(deepseek\.com|moonshot\.(ai|cn)|kimi\.com)$/;
/** Gemini's API in OpenAI's form: of Google AI, and of its cloud. */
const googleHost = /(^|\.)(generativelanguage|([a-z0-9-]+-)?aiplatform)\.googleapis\.com$/;
/** Gemini 3 and later check signatures, and models of others that Google serves have none. */
const signedModel = /gemini-(?![12]\b)/;

/**
 * DeepSeek and Kimi refuse later turns without the reasoning of each turn with calls
 * (https://api-docs.deepseek.com/guides/thinking_mode, https://platform.kimi.ai/docs/guide/use-kimi-k2-thinking-model),
 * and Gemini calls without a signature (https://ai.google.dev/gemini-api/docs/thought-signatures).
 */
function neededBack({ baseUrl = address.baseUrl }: Configuration): NeededBack {
  const { hostname } = new URL(baseUrl);
  if (rememberingHost.test(hostname)) return { reasoning: 'always' };
  return googleHost.test(hostname) ? { signaturesOf: signedModel } : {};
}

const openAiHost = /\.openai(\.azure)?\.com$/;

type Configuration = ProviderSettings & t.TypeOfProps<typeof settings>;

function spokenProtocols({ baseUrl = address.baseUrl, responses }: Configuration): SpokenProtocols {
  const isOpenAi = new URL(baseUrl).origin === new URL(address.baseUrl).origin;
  return (responses ?? isOpenAi) ? [openAiChat, openAiResponses] : [openAiChat];
}

class OpenAiCompatible extends HttpProvider implements Provider {
  readonly protocols: SpokenProtocols;
  readonly hostedTools: boolean;
  readonly wholePaths = ['/embeddings'] as const;
  readonly #headers: ReadonlyArray<string>;
  readonly #chatHeaders: ReadonlyArray<string>;
  readonly #chatStreamHeaders: ReadonlyArray<string>;

  constructor(opening: Opening<typeof settings>) {
    super(opening, address);
    const { configuration, apiKey } = opening;
    this.protocols = spokenProtocols(configuration);
    this.hostedTools = configuration.hostedTools;
    this.#headers = ownHeaders(configuration.headers, keyHeaders(apiKey, configuration.apiKeyHeader));
    this.#chatHeaders = this.#headersFor('application/json', 'application/json');
    this.#chatStreamHeaders = this.#headersFor('application/json', 'text/event-stream');
  }

  text({ path, body, streams, forwarded }: ProviderText): UpstreamRequest {
    const headers = [...(streams ? this.#chatStreamHeaders : this.#chatHeaders), ...forwarded];
    return { path: this.pathTo(path), headers, body, streams };
  }

  backgroundResponse({ action, id, query, streams }: ProviderBackgroundRequest): UpstreamRequest {
    const under = `${responsesPath}/${encodeURIComponent(id)}${action === 'cancel' ? '/cancel' : ''}`;
    const headers = streams ? this.#chatStreamHeaders : this.#chatHeaders;
    return { ...methods[action], path: this.pathTo(under, query), headers, body: noBody, streams };
  }

  whole({ path, body, forwarded }: ProviderWhole): ProviderRequest {
    return asItCame({
      path: this.pathTo(path),
      headers: [...this.#chatHeaders, ...forwarded],
      body,
      streams: false,
    });
  }

  speech({ body, forwarded }: ProviderSpeech): ProviderRequest {
    const headers = [...this.#headersFor('application/json', '*/*'), ...forwarded];
    return asItCame({ path: this.pathTo('/audio/speech'), headers, body, streams: true });
  }

  transcription({ body, contentType, streams, forwarded }: ProviderTranscription): ProviderRequest {
    const headers = [...this.#headersFor(contentType, '*/*'), ...forwarded];
    return asItCame({ path: this.pathTo('/audio/transcriptions'), headers, body, streams });
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
