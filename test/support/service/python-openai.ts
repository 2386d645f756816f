import { execFile, spawnSync } from 'node:child_process';
import { skipOptionalSuite } from '#test/support/run/skipped-suites.ts';

/** The Python that tests run. */
export const pythonProgram = process.env.PYTHON || 'python3';
const suiteTestMs = 180_000;
const scriptTimeoutMs = 120_000;

/** Describes a suite that needs Python with OpenAI's package. The suite is skipped where one of them is missing. */
export function describeWithPythonOpenAi(suite: string, define: () => void): void {
  const { status } = spawnSync(pythonProgram, ['-c', 'import openai'], { stdio: 'ignore', timeout: scriptTimeoutMs });
  if (status === 0)
    describe(suite, function () {
      this.timeout(suiteTestMs);
      define();
    });
  else skipOptionalSuite(suite, 'install Python 3 with its package openai, or set PYTHON');
}

/**
 * Runs a Python script to its end.
 * @returns its output, parsed as JSON.
 * @throws Error with the script's error output
 */
export function runPython(script: string, environment: Readonly<Record<string, string>>): Promise<unknown> {
  const env = { PATH: process.env.PATH, ...environment };
  return new Promise((resolve, reject) => {
    execFile(pythonProgram, ['-c', script], { env, timeout: scriptTimeoutMs }, (error, stdout, stderr) =>
      error === null ? resolve(JSON.parse(stdout)) : reject(new Error(`${error.message}\n${stderr}`)),
    );
  });
}
