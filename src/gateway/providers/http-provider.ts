import { HttpTransport } from '#gateway/transport/http-transport.ts';
import type { Transport } from '#gateway/transport/transport.ts';
import type { Opening } from './provider-kind.ts';
import { SecretRedactor } from './secret-redactor.ts';

/** Minimum limit for connecting, because a model may have a longer timeout than its provider. */
const minConnectMs = 15_000;

/** What all providers have that are called over HTTP. */
export class HttpProvider {
  readonly name: string;
  readonly transport: Transport;
  readonly redactor: SecretRedactor;
  /** From the configuration, or the kind's own. */
  protected readonly baseUrl: URL;

  constructor({ name, configuration, apiKey, onFault }: Opening, defaultBaseUrl: string) {
    const { baseUrl, headers, timeouts } = configuration;
    this.name = name;
    this.baseUrl = new URL(baseUrl ?? defaultBaseUrl);
    const connectMs = Math.max(minConnectMs, timeouts.connectMs ?? 0);
    this.transport = new HttpTransport(this.baseUrl.origin, connectMs, onFault);
    this.redactor = new SecretRedactor([...Object.values(headers), ...(apiKey === null ? [] : [apiKey])]);
  }

  /**
   * Returns a path below the base URL, with its query.
   * @param query a further query, with its question mark
   */
  protected pathTo(under: string, query = ''): string {
    const { pathname, search } = this.baseUrl;
    return pathname.replace(/\/$/, '') + under + (search === '' ? query : `${search}${query.replace('?', '&')}`);
  }
}

/**
 * The headers of every request to a provider, names and values in turn.
 * @param keyHeader the header with the key; none without a key
 */
export function ownHeaders(
  headers: Readonly<Record<string, string>>,
  keyHeader: ReadonlyArray<string>,
): ReadonlyArray<string> {
  // The gateway reads answers while they arrive, so they must not be compressed.
  const always = ['user-agent', 'switchyard', 'accept-encoding', 'identity'];
  return [...Object.entries(headers).flat(), ...keyHeader, ...always];
}
