import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { compileCache } from '#test/support/run/compile-cache.ts';
import { endWithRun } from '#test/support/run/end-with-run.ts';

const tool = join(import.meta.dirname, '../../../src/cli/events.ts');

/** The exit code and output of the tool. */
export interface ToolExit {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts `npm run events`. */
export function startEventsTool(
  args: ReadonlyArray<string>,
  environment: Readonly<Record<string, string>>,
): ChildProcess {
  const child = spawn(process.execPath, [tool, ...args], {
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: compileCache, ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  endWithRun(child);
  return child;
}

/** Waits for the tool's end. @param input its standard input; null to leave it open */
export async function toolExit(child: ChildProcess, input: string | null = ''): Promise<ToolExit> {
  const output = { stdout: '', stderr: '' };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  child.stdin?.on('error', () => undefined);
  if (input !== null) child.stdin?.end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...output };
}
