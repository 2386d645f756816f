import { writeFileSync } from 'node:fs';
import type { Runner, Test } from 'mocha';

/** What a run of tests has come to. */
export interface Report {
  readonly state: 'running' | 'passed' | 'failed';
  /** The test file of the last test that began. */
  readonly file: string | null;
  readonly title: string | null;
  readonly message: string | null;
}

/**
 * A reporter for Mocha that writes the state of the run to the file that MUTATION_REPORT names, and ends the process at
 * the first failure: what the failed test has left open would only delay the end.
 */
class FirstFailureReporter {
  constructor(runner: Runner) {
    let file: string | null = null;
    runner.on('suite', (suite) => {
      if (suite.file === undefined || suite.file === file) return;
      file = suite.file;
      write({ state: 'running', file, title: null, message: null });
    });
    runner.on('fail', (test: Test, error: Error) => {
      write({ state: 'failed', file: test.file ?? file, title: test.fullTitle(), message: error.message });
      process.exit(1);
    });
    runner.on('end', () => write({ state: 'passed', file, title: null, message: null }));
  }
}

function write(report: Report): void {
  writeFileSync(process.env.MUTATION_REPORT ?? '', JSON.stringify(report));
}

export default FirstFailureReporter;
