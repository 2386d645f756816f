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
