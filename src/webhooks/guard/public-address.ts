import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

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
