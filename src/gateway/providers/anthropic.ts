import { anthropicMessages } from '#gateway/protocols/anthropic-messages/anthropic-messages.ts';
import type { UpstreamRequest } from '#gateway/transport/transport.ts';
import { HttpProvider, ownHeaders } from './http-provider.ts';
import type { Provider, ProviderRequest, ProviderText, ProviderWhole } from './provider.ts';
import type { Opening, ProviderAddress, ProviderKind } from './provider-kind.ts';

const protocols = [anthropicMessages] as const;
const address: ProviderAddress = {
  baseUrl: 'https://api.anthropic.com/v1',
  paths: ['/messages', '/messages/count_tokens'],
};

/** Providers of Messages, under any base URL. */
export const anthropic: ProviderKind = {
  kind: 'anthropic',
  settings: {},
  protocols: () => protocols,
  address,
  open: (opening) => new Anthropic(opening),
};

/** The version if the configuration says no other: it accepts `temperature` and `top_k`. */
const defaultVersion = '2023-06-01';

const versionHeader = 'anthropic-version';

class Anthropic extends HttpProvider implements Provider {
  readonly protocols = protocols;
  readonly wholePaths = ['/messages/count_tokens'] as const;
  readonly #headers: ReadonlyArray<string>;
  /** Sent if the client names no version, whose body then is of the gateway's making. */
  readonly #version: ReadonlyArray<string>;

  constructor(opening: Opening) {
    super(opening, address);
    const { configuration, apiKey } = opening;
    const all = Object.entries(configuration.headers);
    const isVersion = ([header]: readonly [string, string]) => header.toLowerCase() === versionHeader;
    const headers = Object.fromEntries(all.filter((each) => !isVersion(each)));
    const key = apiKey === null ? [] : [configuration.apiKeyHeader ?? 'x-api-key', apiKey];
    this.#headers = [...ownHeaders(headers, key), 'content-type', 'application/json'];
    this.#version = [versionHeader, all.find(isVersion)?.[1] ?? defaultVersion];
  }

  text({ path, query, body, streams, forwarded }: ProviderText): UpstreamRequest {
    const accept = streams ? 'text/event-stream' : 'application/json';
    return { path: this.pathTo(path, query), headers: this.#headersWith(forwarded, accept), body, streams };
  }

  whole({ path, query, body, forwarded }: ProviderWhole): ProviderRequest {
    const headers = this.#headersWith(forwarded, 'application/json');
    return { request: { path: this.pathTo(path, query), headers, body, streams: false }, translator: null };
  }

  #headersWith(forwarded: ReadonlyArray<string>, accept: string): ReadonlyArray<string> {
    const version = forwarded.includes(versionHeader) ? [] : this.#version;
    return [...this.#headers, 'accept', accept, ...version, ...forwarded];
  }
}
