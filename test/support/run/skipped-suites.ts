const lines = new Set<string>();

/**
 * Records that a suite cannot run on this machine. The run prints it at its end; with `CI=true` the run fails.
 * Call it instead of `describe`, while test files are loaded.
 * @param suite the suite's title
 * @param how what to do to run it
 */
export function skipSuite(suite: string, how: string): void {
  if (process.env.CI === 'true') {
    describe(suite, () => {
      it('runs in CI', () => {
        throw new Error(`The suite was skipped: ${how}.`);
      });
    });
    return;
  }
  skipOptionalSuite(suite, how);
}

/**
 * Records that a suite cannot run on this machine, which is not a failure even with `CI=true`: its requirement (a
 * browser, the right to mount) is not met on every machine that checks a change. The run prints it at its end.
 * @param suite the suite's title
 * @param how what to do to run it
 */
export function skipOptionalSuite(suite: string, how: string): void {
  printAtEnd(`skipped: ${suite} (${how})`);
}

/** Prints a line when the run ends, after Mocha has reported all tests, and only once for each process of the run. */
export function printAtEnd(line: string): void {
  if (lines.size === 0)
    process.once('exit', () => process.stdout.write([...lines].map((each) => `  ${each}\n`).join('')));
  lines.add(line);
}
