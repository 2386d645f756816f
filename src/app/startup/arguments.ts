import { StartupError } from '#shared/errors/startup-error.ts';

/** The text of `--help`. */
export const usage = `Usage: npm start

Starts Switchyard. It takes no arguments: environment variables set everything, and none must be set.

  PORT=8080 HOST=127.0.0.1    where it listens
  DATA_DIR=./data             the folder of the embedded stores
  GATEWAY_CONFIG=<file>       the providers and models of the gateway; npm run gateway -- check <file> judges it

All variables: docs/configuration.md. When it runs, its log says where the documentation of the API is (/docs).
Other commands: npm run demo | keys | projections | processes | events | replay | blobs | subject-keys | gateway | mcp,
each with -- --help.
`;

/** @throws StartupError for any other argument */
export function asksForHelp(words: ReadonlyArray<string>): boolean {
  if (words.includes('--help') || words.includes('-h')) return true;
  const [word] = words;
  if (word === undefined) return false;
  throw new StartupError(
    `It takes no arguments, and does not understand ${JSON.stringify(word.slice(0, 60))}: environment variables set everything. See: npm start -- --help`,
  );
}
