import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** Maximum silence of `/healthz` in milliseconds, and the number of requests without an answer. */
export interface Freeze {
  readonly maxMs: number;
  readonly failures: number;
}

/** Calls `/healthz` without a pause from another process, while some work runs. */
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
