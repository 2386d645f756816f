import type { ProviderConfiguration } from '#gateway/config/configuration.ts';
import type { Transport, UpstreamRequest } from '#gateway/transport/transport.ts';
import {
  ownHeaders,
  type Provider,
  type ProviderRequest,
  type ProviderText,
  type ProviderWhole,
  redactorOf,
} from './provider.ts';
import type { SecretRedactor } from './secret-redactor.ts';

/** The default base URL of Anthropic. */
export const anthropicBaseUrl = 'https://api.anthropic.com/v1';

/** The version without another one in the configuration: it takes `temperature` and `top_k`. */
const defaultVersion = '2023-06-01';

const versionHeader = 'anthropic-version';

/** A provider with Anthropic's Messages under any base URL. */
export class Anthropic implements Provider {
  readonly name: string;
  readonly transport: Transport;
  readonly redactor: SecretRedactor;
  readonly protocols = ['anthropic-messages'] as const;
  readonly wholePaths = ['/messages/count_tokens'] as const;
  readonly #base: URL;
  readonly #headers: ReadonlyArray<string>;
  /** Sent if the client names no version, whose body then is of the gateway's making. */
  readonly #version: ReadonlyArray<string>;

  /** @param apiKey null if the provider needs none */
  constructor(name: string, configuration: ProviderConfiguration, apiKey: string | null, transport: Transport) {
    this.name = name;
    this.transport = transport;
    this.redactor = redactorOf(configuration, apiKey);
    this.#base = new URL(configuration.baseUrl ?? anthropicBaseUrl);
    const all = Object.entries(configuration.headers);
    const isVersion = ([header]: readonly [string, string]) => header.toLowerCase() === versionHeader;
    const headers = Object.fromEntries(all.filter((each) => !isVersion(each)));
    const key = apiKey === null ? [] : [configuration.apiKeyHeader ?? 'x-api-key', apiKey];
    this.#headers = [...ownHeaders({ ...configuration, headers }, key), 'content-type', 'application/json'];
    this.#version = [versionHeader, all.find(isVersion)?.[1] ?? defaultVersion];
  }

  text({ query, body, streams, forwarded }: ProviderText): UpstreamRequest {
    const accept = streams ? 'text/event-stream' : 'application/json';
    return { path: this.#path('/messages', query), headers: this.#headersWith(forwarded, accept), body, streams };
  }

  whole({ path, query, body, forwarded }: ProviderWhole): ProviderRequest {
    const headers = this.#headersWith(forwarded, 'application/json');
    return { request: { path: this.#path(path, query), headers, body, streams: false }, translator: null };
  }

  #headersWith(forwarded: ReadonlyArray<string>, accept: string): ReadonlyArray<string> {
    const version = forwarded.includes(versionHeader) ? [] : this.#version;
    return [...this.#headers, 'accept', accept, ...version, ...forwarded];
  }

  /** @param query that of the client, with its question mark */
  #path(under: string, query: string): string {
    const { pathname, search } = this.#base;
    const both = search === '' ? query : `${search}${query.replace('?', '&')}`;
    return pathname.replace(/\/$/, '') + under + both;
  }
}
