import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Bytes of memory that a process and its children have, as Linux counts them. */
export function residentMemory(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  const own = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  const ofChildren = children === '' ? [] : children.split(' ').map(Number);
  return Number(own?.[1] ?? 0) * 1_024 + ofChildren.reduce((sum, child) => sum + residentMemory(child), 0);
}

/** What a process has at the least over some seconds: what it needs when idle. */
export async function idleMemory(pid: number): Promise<number> {
  let least = residentMemory(pid);
  for (let sample = 0; sample < 30; sample += 1) {
    await sleep(100);
    least = Math.min(least, residentMemory(pid));
  }
  return least;
}

/** The most that a process has while something runs. */
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
