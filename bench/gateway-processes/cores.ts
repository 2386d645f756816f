import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { print } from '#bench/measure.ts';

/** Asked before this process keeps off one of them. */
const cores = availableParallelism();

/**
 * Keeps this process, and all that it starts from here on, off the last core, which is left to what is measured. Says so
 * where it cannot be done (one core, or no `taskset`): loads and gateways then share the cores.
 * @returns gives a process, with its children, that core for itself
 */
export function leaveOneCore(): (pid: number) => void {
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

/** Of all its threads. */
function setAffinity(list: string, pid: number): void {
  execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', list, String(pid)], { stdio: 'pipe' });
}

function withChildren(pid: number): ReadonlyArray<number> {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  return [pid, ...children.flatMap(withChildren)];
}
