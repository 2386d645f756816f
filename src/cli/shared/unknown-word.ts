import { StartupError } from '#shared/errors/startup-error.ts';

const maxShownLength = 60;

/**
 * Why a tool refuses a word that it does not understand: the message names the word.
 * @param tool as in `npm run <tool>`
 * @param known the words that it understands there
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
