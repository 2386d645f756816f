import { type ParseArgsConfig, parseArgs } from 'node:util';
import { keepNewFilesPrivate } from '#app/files/private-files.ts';
import { StartupError } from '#shared/errors/startup-error.ts';

/**
 * @param help the command that shows the usage
 * @throws StartupError that names an unknown option, or one without its value
 */
export function parseWords<Config extends ParseArgsConfig>(
  help: string,
  config: Config,
): ReturnType<typeof parseArgs<Config>> {
  try {
    return parseArgs(config);
  } catch (error) {
    // The sentences after the first one are about ways to write options that no tool needs.
    const [reason = ''] = error instanceof Error ? error.message.split(/\. |\n/) : [String(error)];
    throw new StartupError(`${reason.replace(/\.$/, '')}. See: ${help}`);
  }
}

const maxShownLength = 60;

/**
 * The error for an unknown word; the message names the word.
 * @param tool as in `npm run <tool>`
 * @param known at that place
 */
export function unknownWord(tool: string, word: string, known: ReadonlyArray<string>): StartupError {
  const takes = known.length === 0 ? 'nothing more' : known.join(', ');
  return new StartupError(`it does not understand ${shown(word)}; it takes ${takes}. See: npm run ${tool} -- --help`);
}

/** Shows the word on one line; an address may hold a password. */
function shown(word: string): string {
  const visible = word.replace(/(:\/\/).*$/s, '$1…');
  return JSON.stringify(visible.length > maxShownLength ? `${visible.slice(0, maxShownLength)}…` : visible);
}

const day = /^\d{4}-\d{2}-\d{2}$/;

/** The beginning of the day in UTC. Any other text stays unchanged. */
export function dayOrTime(text: string): string {
  return day.test(text) ? `${text}T00:00:00Z` : text;
}

/**
 * Runs a command-line tool and sets the exit code of the process: the tool's result, or 1 for a failure that the user
 * can fix. Such a failure is printed in one line. `--help` prints the usage.
 * @param run gets the arguments after the tool's name; it returns null if one is missing
 * @param expected the classes of such failures in addition to StartupError
 * @throws any other failure, which is a bug
 */
export async function runTool(
  name: string,
  usage: string,
  run: (words: string[]) => Promise<number | null>,
  ...expected: ReadonlyArray<new (message: string) => Error>
): Promise<void> {
  endOnClosedPipe();
  keepNewFilesPrivate();
  const words = process.argv.slice(2);
  if (words.includes('--help') || words.includes('-h')) {
    process.stdout.write(usage);
    return;
  }
  try {
    process.exitCode = (await run(words)) ?? showUsage(name, usage, words);
  } catch (error) {
    if (!(error instanceof Error && [StartupError, ...expected].some((kind) => error instanceof kind))) throw error;
    process.stderr.write(`${name}: ${error.message}\n`);
    process.exitCode = 1;
  }
}

function showUsage(name: string, usage: string, words: ReadonlyArray<string>): number {
  const reason = words.length === 0 ? '' : `\n${name}: an argument is missing. The usage is above.\n`;
  process.stderr.write(usage + reason);
  return 1;
}

/** The exit code of shells for a process that writes to a closed pipe. */
const closedPipeCode = 141;

/** Ends the tool silently if the reader of the output closes the pipe, like `| head`. */
export function endOnClosedPipe(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      process.exit(closedPipeCode);
    });
  }
}
