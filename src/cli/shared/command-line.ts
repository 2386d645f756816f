import { type ParseArgsConfig, parseArgs } from 'node:util';
import { StartupError } from '#shared/errors/startup-error.ts';

/**
 * Parses the words of a command line.
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
 * The error for an unknown word; the message names the word. @param tool as in `npm run <tool>` @param known the known
 * words at that place
 */
export function unknownWord(tool: string, word: string, known: ReadonlyArray<string>): StartupError {
  const takes = known.length === 0 ? 'nothing more' : known.join(', ');
  return new StartupError(`it does not understand ${shown(word)}; it takes ${takes}. See: npm run ${tool} -- --help`);
}

/** On one line; an address may hold a password. */
function shown(word: string): string {
  const visible = word.replace(/(:\/\/).*$/s, '$1…');
  return JSON.stringify(visible.length > maxShownLength ? `${visible.slice(0, maxShownLength)}…` : visible);
}

const day = /^\d{4}-\d{2}-\d{2}$/;

/** Converts a day of a command line to its beginning in UTC. Returns any other text unchanged. */
export function dayOrTime(text: string): string {
  return day.test(text) ? `${text}T00:00:00Z` : text;
}
