import { keepNewFilesPrivate } from '#app/files/private-files.ts';
import { StartupError } from '#shared/errors/startup-error.ts';

/**
 * Runs a command-line tool and sets the exit code of the process: what it gives back, or 1 for a failure that whoever
 * runs it can mend, which is told in one line.
 * @param run takes the words behind the tool's name
 * @param expected what such failures are, beside StartupError
 * @throws any other failure: a bug
 */
export async function runTool(
  name: string,
  run: (words: string[]) => Promise<number>,
  ...expected: ReadonlyArray<new (message: string) => Error>
): Promise<void> {
  keepNewFilesPrivate();
  try {
    process.exitCode = await run(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof Error && [StartupError, ...expected].some((kind) => error instanceof kind))) throw error;
    process.stderr.write(`${name}: ${error.message}\n`);
    process.exitCode = 1;
  }
}
