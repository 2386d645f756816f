import { readFileSync } from 'node:fs';

/** A tick of the counter in which Linux counts the time of processors. */
const tickMs = 10;

/** The time of processors that a process has used so far, in ms, as Linux counts it: other load does not move it. */
export function processorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name before may hold blanks.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user = '0', system = '0'] = fields.slice(11, 13);
  return (Number(user) + Number(system)) * tickMs;
}
