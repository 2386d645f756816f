import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { endWithRun } from '#test/support/run/end-with-run.ts';

const tool = join(import.meta.dirname, '../../../src/cli/events.ts');

/** What it came to. */
export interface ToolEnded {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** `npm run events`, as a process. */
export function startEventsTool(
  words: ReadonlyArray<string>,
  environment: Readonly<Record<string, string>>,
): ChildProcess {
  const child = spawn(process.execPath, [tool, ...words], {
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  endWithRun(child);
  return child;
}

/** Waits for its end. @param input null to leave its standard input open */
export async function toolEnded(child: ChildProcess, input: string | null = ''): Promise<ToolEnded> {
  const told = { stdout: '', stderr: '' };
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (told.stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (told.stderr += text));
  child.stdin?.on('error', () => undefined);
  if (input !== null) child.stdin?.end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...told };
}
