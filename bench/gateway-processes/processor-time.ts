import { readFileSync } from 'node:fs';

/** The length of a tick in which Linux counts processor time. */
const tickMs = 10;

/** Returns the processor time of a process so far in ms, as Linux counts it. Other load does not change it. */
export function processorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name before these fields may contain blanks.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user = '0', system = '0'] = fields.slice(11, 13);
  return (Number(user) + Number(system)) * tickMs;
}
