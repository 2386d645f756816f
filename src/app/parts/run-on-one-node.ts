import type { Runtime } from '#app/runtime.ts';
import { type OnOneNodeOptions, onOneNode } from '#leases/on-one-node.ts';

/** Starts work that one node at a time does until the service stops, which waits for its end. @see onOneNode */
export function runOnOneNode(
  { leases, node, log, opened }: Pick<Runtime, 'leases' | 'node' | 'log' | 'opened'>,
  work: Pick<OnOneNodeOptions, 'name' | 'failureMessage' | 'work'>,
): void {
  const stopping = new AbortController();
  const running = onOneNode({ ...work, leases, node, log, signal: stopping.signal });
  opened.defer(async () => {
    stopping.abort();
    await running;
  });
}
