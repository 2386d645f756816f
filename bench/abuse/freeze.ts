import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** How long `/healthz` was silent at most, in milliseconds, and how often it was not answered at all. */
export interface Freeze {
  readonly longestMs: number;
  readonly failures: number;
}

/** Asks `/healthz` without a break, from another process, while something runs. */
export async function freezeDuring(url: string, run: () => Promise<unknown>): Promise<Freeze> {
  const probe = fork(join(import.meta.dirname, 'health-probe.ts'), [url]);
  await once(probe, 'message');
  try {
    await run();
  } finally {
    probe.send('end');
  }
  const [freeze] = (await once(probe, 'message')) as [Freeze];
  await once(probe, 'exit');
  return freeze;
}
