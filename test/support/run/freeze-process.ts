import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const freezeTimeoutMs = 5_000;
const pollIntervalMs = 1;

/**
 * Suspends a process with SIGSTOP, and returns once it has stopped. Its connections stay open, and it answers nothing.
 * On a busy machine a process may still answer a call after `kill` has returned. Without `/proc` it does not wait.
 * @throws Error if the process has not stopped within five seconds
 */
export function freezeProcess(child: ChildProcess): void {
  if (!child.kill('SIGSTOP')) return;
  const deadline = performance.now() + freezeTimeoutMs;
  while (!isFrozen(child)) {
    if (performance.now() > deadline) throw new Error(`Process ${child.pid} has not stopped after SIGSTOP.`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pollIntervalMs);
  }
}

/** Whether every thread of the process has stopped. A process that has ended answers nothing either. */
function isFrozen({ pid }: ChildProcess): boolean {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    return threads.every((thread) => {
      const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8');
      return /^[TtZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
    });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return true;
    throw error;
  }
}
