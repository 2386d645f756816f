import type { Runtime } from '#app/runtime.ts';
import { type OnOneNodeOptions, onOneNode } from '#leases/on-one-node.ts';
import type { Term } from '#leases/term.ts';

interface OneNodeWork extends Pick<OnOneNodeOptions, 'name' | 'failureMessage'> {
  /** @param stopping aborts when the service stops; it may do so after the end of the term, while the work ends */
  readonly work: (term: Term, stopping: AbortSignal) => Promise<void>;
}

/** Runs the work on one node at a time until the service stops. @see onOneNode */
export function runOnOneNode(
  { leases, node, log, opened }: Pick<Runtime, 'leases' | 'node' | 'log' | 'opened'>,
  { name, failureMessage, work }: OneNodeWork,
): void {
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = onOneNode({ name, failureMessage, leases, node, log, signal, work: (term) => work(term, signal) });
  opened.addWork(name, () => {
    stopping.abort();
    return running;
  });
}
