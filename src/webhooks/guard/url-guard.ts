import { isIP, type LookupFunction } from 'node:net';
import { faultOfUrl } from '#domain/webhook-endpoint/url.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { AddressRefusedError, HostNotFoundError } from './guard-errors.ts';
import { isPublicAddress } from './public-address.ts';
import type { HostAddress, ResolveHost } from './resolve-host.ts';

export interface UrlGuardOptions {
  /** Lets deliveries go to private networks, and over plain HTTP. */
  readonly allowsPrivateNetworks: boolean;
  readonly resolve: ResolveHost;
}

/**
 * Decides where webhooks may be delivered to. A host is judged by all its addresses, and the connection goes to an
 * address that was judged: what a name server answers later changes nothing.
 */
export class UrlGuard {
  readonly #options: UrlGuardOptions;

  constructor(options: UrlGuardOptions) {
    this.#options = options;
  }

  /**
   * Why nothing may be delivered to a URL, as its host resolves now; null when it may. Where private networks are
   * allowed, the host is not looked up.
   * @throws UnavailableError when the name servers do not answer
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
      throw new UnavailableError('The host of the URL cannot be looked up just now. Send the request again.');
    }
  }

  /**
   * The addresses of a host, all of them allowed.
   * @param host a name, or an address itself
   * @throws AddressRefusedError; HostNotFoundError; another Error when it cannot be looked up
   */
  async addressesOf(host: string): Promise<ReadonlyArray<HostAddress>> {
    const family = isIP(host);
    const addresses = family === 0 ? await this.#options.resolve(host) : [literal(host, family)];
    if (addresses.length === 0) throw new HostNotFoundError(`${host} has no address`);
    if (this.#options.allowsPrivateNetworks) return addresses;
    if (addresses.every(({ address }) => isPublicAddress(address))) return addresses;
    throw new AddressRefusedError(`${host} has an address that is not public`);
  }

  /** Refuses a host that is itself an address that is not allowed: it is connected to without a lookup. */
  checkLiteral(url: string): void {
    const host = hostOf(url);
    if (this.#options.allowsPrivateNetworks || isIP(host) === 0 || isPublicAddress(host)) return;
    throw new AddressRefusedError('the URL has an address that is not public');
  }

  /** Looks up the host of a connection that is about to be made. */
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

/** The host of a URL, an IPv6 address without its brackets. */
function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[|\]$/g, '');
}

function literal(address: string, family: number): HostAddress {
  return { address, family: family === 6 ? 6 : 4 };
}
