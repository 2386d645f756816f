import { lookup, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { HostNotFoundError } from './guard-errors.ts';

/** An address of a host. */
export interface HostAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Returns every address of a host. @throws HostNotFoundError; another Error if the lookup fails for now */
export type ResolveHost = (hostname: string) => Promise<ReadonlyArray<HostAddress>>;

/** Looks up the addresses of one family. Rejects with the code of c-ares if there is none. */
interface NameServers {
  resolve4(hostname: string): Promise<ReadonlyArray<string>>;
  resolve6(hostname: string): Promise<ReadonlyArray<string>>;
}

/** Codes of an answer that says that the host has no such address. */
const absent = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME', 'EAI_NONAME', 'EAI_NODATA']);

/**
 * Creates a resolver that asks the name servers. Unlike `dns.lookup`, it uses no thread of Node's pool, so that a name
 * server that does not answer delays nothing else.
 * @param servers default: those of the machine
 */
export function createDnsResolver(servers: NameServers = new Resolver({ timeout: 2_000, tries: 2 })): ResolveHost {
  return async (hostname) => {
    const results = await Promise.allSettled([servers.resolve4(hostname), servers.resolve6(hostname)]);
    const found = results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
    if (found.length > 0) return found.map(addressOf);
    const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    throw failures.find((error) => !isAbsence(error)) ?? new HostNotFoundError(`${hostname} has no address`);
  };
}

/** Creates a resolver that asks the name servers and then the operating system, which knows local names. */
export function createSystemResolver(resolve = createDnsResolver()): ResolveHost {
  return async (hostname) => {
    try {
      return await resolve(hostname);
    } catch (error) {
      const found = await lookup(hostname, { all: true }).catch(() => []);
      if (found.length === 0) throw error;
      return found.map(({ address }) => addressOf(address));
    }
  };
}

/** @param address an IPv4 or IPv6 address */
export function addressOf(address: string): HostAddress {
  return { address, family: isIP(address) === 6 ? 6 : 4 };
}

function isAbsence(error: unknown): boolean {
  return error instanceof Error && 'code' in error && absent.has(String(error.code));
}
