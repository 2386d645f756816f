import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';

/** A name of this process that no other process on any machine has: leases and log lines show it. */
export function createNodeName(): string {
  return `${hostname()}-${process.pid}-${randomBytes(3).toString('hex')}`;
}
