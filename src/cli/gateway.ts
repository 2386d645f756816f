import { runTool, unknownWord } from '#cli/shared/command-line.ts';
import { checkConfiguration } from './gateway/check-configuration.ts';
import { importLiteLlm } from './gateway/litellm/import-litellm.ts';

const usage = `Usage: npm run --silent gateway -- <command>

  check <file>   judges a configuration of the gateway as a start would, without starting anything; the variables that
                 apiKeyEnv names must be set, to whatever value
    --without-keys   for CI, which has no keys: these variables need not be set

                 It prints every issue on a separate line, with its place, and exits with 1 if there is one. A note or
                 a warning is not an issue.
  import-litellm <file>   prints a configuration of LiteLLM's proxy (YAML) as one of the gateway; on standard error it
                 names each setting that is left out, with its place and the reason
`;

const withoutKeys = '--without-keys';

await runTool('gateway', usage, run);

async function run(words: ReadonlyArray<string>): Promise<number | null> {
  const [command, ...others] = words;
  if (command !== undefined && command !== 'check' && command !== 'import-litellm')
    throw unknownWord('gateway', command, ['check', 'import-litellm']);
  const options = command === 'check' ? [withoutKeys] : [];
  const [file, ...more] = others.filter((word) => !options.includes(word));
  const unknown = file?.startsWith('-') ? file : more[0];
  if (unknown !== undefined) throw unknownWord('gateway', unknown, options);
  if (file === undefined) return null;
  if (command === 'import-litellm') return importLiteLlm(file);
  return checkConfiguration(file, words.includes(withoutKeys) ? withEveryVariable(process.env) : process.env);
}

/** Answers any variable, so that none is missing. */
function withEveryVariable(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return new Proxy(environment, {
    get: (variables, name) => (typeof name === 'string' ? variables[name] || 'not-set' : undefined),
  });
}
