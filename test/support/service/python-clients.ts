import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { skipOptionalSuite } from '#test/support/run/skipped-suites.ts';

const folder = join(import.meta.dirname, '../../../.ci/python-clients');
const caches = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
const digest = createHash('sha256')
  .update(readFileSync(join(folder, 'requirements.txt')))
  .digest('hex');
/** The Python that `.ci/python-clients/install` makes. */
const program = join(caches, `switchyard/python-clients-${digest.slice(0, 12)}/bin/python`);
const suiteTestMs = 180_000;
const scriptTimeoutMs = 120_000;

/** The version of each client that is installed, by the name of its package. */
export const pythonClients: ReadonlyMap<string, string> = new Map(
  [...readFileSync(join(folder, 'requirements.in'), 'utf8').matchAll(/^(\S+)==(\S+)$/gm)].map(
    ([, name = '', version = '']) => [name, version],
  ),
);

/** Describes a suite that needs the clients for Python. The suite is skipped where they are not installed. */
export function describeWithPythonClients(suite: string, define: () => void): void {
  if (existsSync(program))
    describe(suite, function () {
      this.timeout(suiteTestMs);
      define();
    });
  else skipOptionalSuite(suite, 'run .ci/python-clients/install');
}

/**
 * Runs a Python script to its end.
 * @returns its output
 * @throws Error with the script's error output
 */
export function runPython(script: string, environment: Readonly<Record<string, string>>): Promise<string> {
  const env = { PATH: process.env.PATH, ...environment };
  return new Promise((resolve, reject) => {
    execFile(program, ['-c', script], { env, timeout: scriptTimeoutMs }, (error, stdout, stderr) =>
      error === null ? resolve(stdout) : reject(new Error(`${error.message}\n${stderr}`)),
    );
  });
}
