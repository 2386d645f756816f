import { runTool, unknownWord } from '#cli/shared/command-line.ts';
import { checkConfiguration } from './gateway/check-configuration.ts';

const usage = `Usage: npm run gateway -- <command>

  check <file>   judges a configuration of the gateway as a start would, without starting anything; the variables that
                 apiKeyEnv names must be set, to whatever value
    --without-keys   for CI, which has no keys: these variables need not be set

It prints every issue on a separate line, with its place, and exits with 1 if there is one. A note or a warning is not
an issue.
`;

const withoutKeys = '--without-keys';

await runTool('gateway', usage, run);

async function run(words: ReadonlyArray<string>): Promise<number | null> {
  const [command, file, ...more] = words.filter((word) => word !== withoutKeys);
  if (command !== undefined && command !== 'check') throw unknownWord('gateway', command, ['check']);
  if (file?.startsWith('-')) throw unknownWord('gateway', file, [withoutKeys]);
  if (more[0] !== undefined) throw unknownWord('gateway', more[0], [withoutKeys]);
  if (file === undefined) return null;
  return checkConfiguration(file, words.includes(withoutKeys) ? withEveryVariable(process.env) : process.env);
}

/** An environment in which each variable is set, so that none is missed. */
function withEveryVariable(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return new Proxy(environment, {
    get: (variables, name) => (typeof name === 'string' ? variables[name] || 'not-set' : undefined),
  });
}
