import { HttpTransport } from '#gateway/transport/http-transport.ts';
import type { Transport } from '#gateway/transport/transport.ts';
import type { Opening, ProviderAddress } from './provider-kind.ts';
import { SecretRedactor } from './secret-redactor.ts';

/** Minimum time limit of a connection. A model may have a longer timeout than its provider. */
const minConnectMs = 15_000;

export class HttpProvider {
  readonly name: string;
  readonly transport: Transport;
  readonly redactor: SecretRedactor;
  /** The path of the base URL, and its query with the question mark. */
  readonly #basePath: string;
  readonly #baseQuery: string;

  constructor({ name, configuration, apiKey, onFault }: Opening, address: ProviderAddress) {
    const { baseUrl, headers, timeouts } = configuration;
    this.name = name;
    const { origin, pathname, search } = new URL(baseUrl ?? address.baseUrl);
    this.#basePath = pathname.replace(/\/$/, '');
    this.#baseQuery = search;
    this.transport = new HttpTransport(origin, Math.max(minConnectMs, timeouts.connectMs ?? 0), onFault);
    this.redactor = new SecretRedactor([...Object.values(headers), ...(apiKey === null ? [] : [apiKey])]);
  }

  /** A path below the base URL. @param query a further query, with its question mark */
  protected pathTo(under: string, query = ''): string {
    const further = this.#baseQuery === '' ? query : query.replace('?', '&');
    return this.#basePath + under + this.#baseQuery + further;
  }
}

/**
 * The headers of every request, as alternating names and values.
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
