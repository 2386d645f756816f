import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** @param host a name, or an address without brackets */
export function isLoopback(host: string): boolean {
  return isIP(host) === 0 ? host === 'localhost' : ipaddr.process(host).range() === 'loopback';
}
