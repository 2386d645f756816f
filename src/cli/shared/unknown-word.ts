import { StartupError } from '#shared/errors/startup-error.ts';

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
