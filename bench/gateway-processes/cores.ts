import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { print } from '#bench/measure.ts';

/** Counted before this process gives up one of the cores. */
const cores = availableParallelism();

/**
 * Keeps this process, and all later child processes, off the last core, which is reserved for the measured process.
 * Prints a line when that is impossible (one core, or no `taskset`): loads and gateways then share the cores.
 * @returns a function that reserves that core for a process and its children
 */
export function reserveCore(): (pid: number) => void {
  const last = cores - 1;
  try {
    if (last === 0) throw new Error('there is one core alone');
    setAffinity(`0-${last - 1}`, process.pid);
  } catch (error) {
    print(`The gateways have no core of their own here: ${error instanceof Error ? error.message : error}`);
    return () => undefined;
  }
  return (pid) => {
    for (const each of withChildren(pid)) setAffinity(String(last), each);
  };
}

/** Includes all threads. */
function setAffinity(list: string, pid: number): void {
  execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', list, String(pid)], { stdio: 'pipe' });
}

function withChildren(pid: number): ReadonlyArray<number> {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  return [pid, ...children.flatMap(withChildren)];
}
