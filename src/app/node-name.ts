import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';

/** A name for this process, unlike that of any other on any machine: for leases, and for whoever looks for it. */
export function createNodeName(): string {
  return `${hostname()}-${process.pid}-${randomBytes(3).toString('hex')}`;
}
