const leftOut = new Map<string, string>();

/**
 * Says that a suite cannot run on this machine. The run names it at its end; with `CI=true` it fails the run.
 * Call it while test files are loaded, in the suite's place.
 * @param suite what it tests, as shown
 * @param how what makes it run, as shown
 */
export function leaveOut(suite: string, how: string): void {
  if (process.env.CI === 'true') {
    describe(suite, () => {
      it('is not left out', () => {
        throw new Error(`It was left out: ${how}.`);
      });
    });
    return;
  }
  if (leftOut.size === 0) process.once('exit', tell);
  leftOut.set(suite, how);
}

/** When all tests of this process have been told. */
function tell(): void {
  const lines = [...leftOut].map(([suite, how]) => `  left out: ${suite} (${how})\n`);
  process.stdout.write(`${lines.join('')}\n`);
}
