import type { Runtime } from '#app/runtime.ts';
import { type OnOneNodeOptions, onOneNode } from '#leases/on-one-node.ts';

/** Starts work that one node at a time does until the service stops. @see onOneNode */
export function runOnOneNode(
  { leases, node, log, opened }: Pick<Runtime, 'leases' | 'node' | 'log' | 'opened'>,
  work: Pick<OnOneNodeOptions, 'name' | 'failureMessage' | 'work'>,
): void {
  const stopping = new AbortController();
  const running = onOneNode({ ...work, leases, node, log, signal: stopping.signal });
  opened.addWork(work.name, () => {
    stopping.abort();
    return running;
  });
}
