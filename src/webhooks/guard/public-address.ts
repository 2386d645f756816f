import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Addresses that are public by their range and lead to the metadata of a cloud's machines all the same. */
const metadataAddresses = new Set([
  // Azure's WireServer
  '168.63.129.16',
]);

/** What is routed on the internet over IPv6 today (RFC 4291, IANA). */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Whether an address is one that anybody may be reached at: neither private, local or reserved, nor one that leads to
 * such an IPv4 address by translation (mapped, NAT64, 6to4, Teredo).
 */
export function isPublicAddress(address: string): boolean {
  // The library also reads what the system does not take for an address.
  if (isIP(address) === 0 || !ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  if (parsed.range() !== 'unicast') return false;
  if (parsed.kind() === 'ipv6') return parsed.match(globalUnicast);
  return !metadataAddresses.has(parsed.toString());
}
