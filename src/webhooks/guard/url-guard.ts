import { isIP, type LookupFunction } from 'node:net';
import { faultOfUrl } from '#domain/webhook-endpoint/webhook-endpoint.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { AddressRefusedError, HostNotFoundError } from './guard-errors.ts';
import { isPublicAddress } from './public-address.ts';
import { addressOf, type HostAddress, type ResolveHost } from './resolve-host.ts';

export interface UrlGuardOptions {
  /** Allows deliveries to private networks and over plain HTTP. */
  readonly allowsPrivateNetworks: boolean;
  readonly resolve: ResolveHost;
}

/**
 * Decides where webhooks may be delivered to. The guard checks all addresses of a host, and the connection goes to a
 * checked address. A later answer of a name server therefore changes nothing.
 */
export class UrlGuard {
  readonly #options: UrlGuardOptions;

  constructor(options: UrlGuardOptions) {
    this.#options = options;
  }

  /**
   * Returns why nothing may be delivered to a URL, as its host resolves now; null if the URL is allowed. The host is not
   * looked up if private networks are allowed.
   * @throws UnavailableError if the name servers do not answer
   */
  async faultOf(url: string): Promise<string | null> {
    const { allowsPrivateNetworks } = this.#options;
    const fault = faultOfUrl(url, allowsPrivateNetworks);
    if (fault !== null || allowsPrivateNetworks) return fault;
    try {
      await this.addressesOf(hostOf(url));
      return null;
    } catch (error) {
      if (error instanceof AddressRefusedError) return 'must be of a host with public addresses alone';
      if (error instanceof HostNotFoundError) return 'must be of a host that has an address';
      throw new UnavailableError('The host of the URL cannot be looked up now. Send the request again.');
    }
  }

  /**
   * Returns the addresses of a host, all of them allowed.
   * @param host a name or an address
   * @throws AddressRefusedError; HostNotFoundError; another Error if the lookup fails
   */
  async addressesOf(host: string): Promise<ReadonlyArray<HostAddress>> {
    const addresses = isIP(host) === 0 ? await this.#options.resolve(host) : [addressOf(host)];
    if (addresses.length === 0) throw new HostNotFoundError(`${host} has no address`);
    if (this.#options.allowsPrivateNetworks) return addresses;
    if (addresses.every(({ address }) => isPublicAddress(address))) return addresses;
    throw new AddressRefusedError(`${host} has an address that is not public`);
  }

  /**
   * Checks a URL whose host is an address, because connecting to it makes no lookup.
   * @throws AddressRefusedError if the address is not allowed
   */
  checkLiteral(url: string): void {
    const host = hostOf(url);
    if (this.#options.allowsPrivateNetworks || isIP(host) === 0 || isPublicAddress(host)) return;
    throw new AddressRefusedError('the URL has an address that is not public');
  }

  /** Looks up the host of a new connection, with the check. */
  readonly lookup: LookupFunction = (hostname, options, callback) => {
    this.addressesOf(hostname).then(
      (addresses) => {
        const [first] = addresses;
        if (options.all === true) callback(null, [...addresses]);
        else callback(null, first?.address ?? '', first?.family);
      },
      (error: Error) => callback(error, '', 0),
    );
  };
}

/** The host of a URL. An IPv6 address has no brackets. */
function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[|\]$/g, '');
}
