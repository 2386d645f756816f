import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';

/** Creates a name for this process that is unique on all machines. Leases and log lines show it. */
export function createNodeName(): string {
  return `${hostname()}-${process.pid}-${randomBytes(3).toString('hex')}`;
}
