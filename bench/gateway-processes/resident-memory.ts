import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Returns the resident memory of a process and its children in bytes, as Linux counts it. */
export function residentMemory(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  const own = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  const ofChildren = children === '' ? [] : children.split(' ').map(Number);
  return Number(own?.[1] ?? 0) * 1_024 + ofChildren.reduce((sum, child) => sum + residentMemory(child), 0);
}

/** Returns the minimum memory of a process over some seconds, which it needs when idle. */
export async function idleMemory(pid: number): Promise<number> {
  let least = residentMemory(pid);
  for (let sample = 0; sample < 30; sample += 1) {
    await sleep(100);
    least = Math.min(least, residentMemory(pid));
  }
  return least;
}

/** Measures the maximum memory of a process while some work runs. */
export async function peakMemory(pid: number, run: () => Promise<unknown>): Promise<number> {
  let peak = residentMemory(pid);
  const sampling = setInterval(() => {
    peak = Math.max(peak, residentMemory(pid));
  }, 20);
  try {
    await run();
  } finally {
    clearInterval(sampling);
  }
  return peak;
}
