import { lookup, Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { faultOfUrl } from '#domain/webhook-endpoint/webhook-endpoint.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';

const forTests =
  'For tests on one machine start the service with WEBHOOK_ALLOW_PRIVATE_NETWORKS=true: see docs/webhooks.md, "Test on one machine"';

export interface UrlGuardOptions {
  /** True to allow private networks, and plain HTTP, too. */
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
   * The fault of a URL as its host resolves now; null if the URL is allowed. The host is not looked up if private
   * networks are allowed.
   * @throws UnavailableError if the name servers do not answer
   */
  async faultOf(url: string): Promise<string | null> {
    const { allowsPrivateNetworks } = this.#options;
    const fault = faultOfUrl(url, allowsPrivateNetworks);
    if (fault !== null && faultOfUrl(url, true) === null) return `${fault}. ${forTests}`;
    if (fault !== null || allowsPrivateNetworks) return fault;
    try {
      await this.addressesOf(hostOf(url));
      return null;
    } catch (error) {
      if (error instanceof AddressRefusedError) return `must be of a host with public addresses alone. ${forTests}`;
      if (error instanceof HostNotFoundError) return 'must be of a host that has an address';
      throw new UnavailableError('The host of the URL cannot be looked up now. Send the request again.');
    }
  }

  /**
   * All of them are allowed.
   * @param host a name or an address
   * @throws AddressRefusedError; HostNotFoundError; another Error if the lookup fails
   */
  async addressesOf(host: string): Promise<ReadonlyArray<HostAddress>> {
    const addresses = isIP(host) === 0 ? await this.#options.resolve(host) : [hostAddressOf(host)];
    if (addresses.length === 0) throw new HostNotFoundError(`${host} has no address`);
    if (this.#options.allowsPrivateNetworks) return addresses;
    if (addresses.every(({ address }) => isPublicAddress(address))) return addresses;
    throw new AddressRefusedError(`${host} has an address that is not public`);
  }

  /**
   * Checks a host that is an address, because connecting to it makes no lookup.
   * @throws AddressRefusedError if the address is not allowed
   */
  checkLiteral(url: string): void {
    const host = hostOf(url);
    if (this.#options.allowsPrivateNetworks || isIP(host) === 0 || isPublicAddress(host)) return;
    throw new AddressRefusedError('the URL has an address that is not public');
  }

  /** Checks the addresses of a new connection. */
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

/** The host. An IPv6 address has no brackets. */
function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[|\]$/g, '');
}

/** A host has an address that is not public. */
export class AddressRefusedError extends Error {
  override readonly name = 'AddressRefusedError';
}

/** A host has no address. */
export class HostNotFoundError extends Error {
  override readonly name = 'HostNotFoundError';
}

/** Addresses in public ranges that lead to the metadata service of a cloud. */
const metadataAddresses = new Set([
  // Azure's WireServer
  '168.63.129.16',
]);

/** The IPv6 addresses that the internet routes today (RFC 4291, IANA). */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Whether an address is public. Private, local and reserved addresses are not. IPv6 addresses that translate to such an
 * IPv4 address (mapped, NAT64, 6to4, Teredo) are not public either.
 */
export function isPublicAddress(address: string): boolean {
  // The library also accepts texts that are not addresses for the operating system.
  if (isIP(address) === 0 || !ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  if (parsed.range() !== 'unicast') return false;
  if (parsed.kind() === 'ipv6') return parsed.match(globalUnicast);
  return !metadataAddresses.has(parsed.toString());
}

export interface HostAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Finds every address. @throws HostNotFoundError; another Error if the lookup fails for now */
export type ResolveHost = (hostname: string) => Promise<ReadonlyArray<HostAddress>>;

/** Asks name servers. A call rejects with the code of c-ares if there is no address. */
interface NameServers {
  resolve4(hostname: string): Promise<ReadonlyArray<string>>;
  resolve6(hostname: string): Promise<ReadonlyArray<string>>;
}

/** Codes of an answer that says that the host has no such address. */
const absent = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME', 'EAI_NONAME', 'EAI_NODATA']);

/**
 * Sends requests to the name servers. Unlike `dns.lookup`, it uses no thread of Node's pool, so that a name server that
 * does not answer delays nothing else.
 * @param servers default: those of the machine
 */
export function createDnsResolver(servers: NameServers = new Resolver({ timeout: 2_000, tries: 2 })): ResolveHost {
  return async (hostname) => {
    const results = await Promise.allSettled([servers.resolve4(hostname), servers.resolve6(hostname)]);
    const found = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
    if (found.length > 0) return found.map(hostAddressOf);
    const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    throw failures.find((error) => !isAbsence(error)) ?? new HostNotFoundError(`${hostname} has no address`);
  };
}

/** Asks first the name servers, then the operating system, which knows local names. */
export function createSystemResolver(resolve = createDnsResolver()): ResolveHost {
  return async (hostname) => {
    try {
      return await resolve(hostname);
    } catch (error) {
      const found = await lookup(hostname, { all: true }).catch(() => []);
      if (found.length === 0) throw error;
      return found.map(({ address }) => hostAddressOf(address));
    }
  };
}

/** @param address an IPv4 or IPv6 address */
export function hostAddressOf(address: string): HostAddress {
  return { address, family: isIP(address) === 6 ? 6 : 4 };
}

function isAbsence(error: unknown): boolean {
  return error instanceof Error && 'code' in error && absent.has(String(error.code));
}
