import { performance } from 'node:perf_hooks';

const intervalMs = 10;
/** Maximum rest at a time: the rest of a long turn comes in parts. */
const maxRestMs = 500;

/**
 * Makes this thread rest after its work, whatever the work is. Only for a thread that has nothing to answer.
 * @param share from 0 to 1
 */
export function limitProcessorShare(share: number): void {
  const never = new Int32Array(new SharedArrayBuffer(4));
  let before = performance.eventLoopUtilization();
  let owedMs = 0;
  const rest = () => {
    const now = performance.eventLoopUtilization();
    owedMs += (now.active - before.active) * (1 / share - 1);
    const restMs = Math.min(maxRestMs, owedMs);
    if (restMs >= 1) Atomics.wait(never, 0, 0, restMs);
    owedMs -= restMs;
    // The rest counts as active time of the loop.
    before = performance.eventLoopUtilization();
  };
  setInterval(rest, intervalMs).unref();
}
