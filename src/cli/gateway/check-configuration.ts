import * as E from 'fp-ts/lib/Either.js';
import { Catalogue, passedOverForEmbeddings, saidMaxTokens } from '#gateway/config/catalogue.ts';
import type { GatewayConfiguration } from '#gateway/config/configuration.ts';
import { readConfiguration } from '#gateway/config/configuration-file.ts';
import { defaultMaxTokensMember, spokenProtocols } from '#gateway/providers/provider-kinds.ts';
import { baseUrlWarnings } from './base-url-warnings.ts';

/**
 * Checks the configuration as a start would. Prints every issue, or what the configuration holds.
 * @param environment has the variables that `apiKeyEnv` names
 * @returns the exit code
 */
export async function checkConfiguration(file: string, environment: NodeJS.ProcessEnv): Promise<number> {
  const read = await readConfiguration(file, environment);
  if (E.isRight(read)) {
    const { configuration } = read.right;
    const notes = [
      ...passedOverIn(configuration),
      ...baseUrlWarnings(configuration.providers),
      ...unsaidLimitsIn(configuration),
    ];
    process.stdout.write([`${file} is valid: ${summaryOf(configuration)}`, ...notes, ''].join('\n'));
    return 0;
  }
  for (const issue of read.left) process.stderr.write(`gateway: ${file}: ${issue}\n`);
  return 1;
}

function summaryOf({ providers, models, voices }: GatewayConfiguration): string {
  const parts = [counted(providers, 'provider'), counted(models, 'model'), counted(voices, 'voice')];
  return parts.join(', ');
}

/** Targets that embeddings never use, which a configuration does not show. */
function passedOverIn(configuration: GatewayConfiguration): ReadonlyArray<string> {
  return new Catalogue(configuration).models().flatMap((route) => {
    const passedOver = passedOverForEmbeddings(route).map(({ id }) => id);
    if (passedOver.length === 0) return [];
    return [
      `note: embeddings with the model ${route.name} do not ask ${passedOver.join(', ')}, whose vectors may differ`,
    ];
  });
}

/** Lists the targets that think, at another host than OpenAI's, and may want the limit of tokens in another member. */
function unsaidLimitsIn({ models, providers }: GatewayConfiguration): ReadonlyArray<string> {
  return Object.entries(models).flatMap(([name, entry]) =>
    (['targets', 'fallbacks'] as const).flatMap((list) =>
      entry[list].flatMap((target, index) => {
        const provider = providers[target.provider];
        const isSaid = saidMaxTokens(target, entry, provider) !== undefined;
        if (!target.reasoning || isSaid || provider === undefined) return [];
        const [first] = spokenProtocols(provider);
        if ((target.protocol ?? first?.name) !== first?.name) return [];
        if (defaultMaxTokensMember(provider) !== 'max_tokens') return [];
        return [
          `warning: /models/${name}/${list}/${index} has "reasoning": true and no "maxTokens", so a translated call sends ` +
            'its limit as max_tokens, which the model may refuse: set "maxTokens" to "max_completion_tokens" or "max_tokens"',
        ];
      }),
    ),
  );
}

function counted(entries: object, noun: string): string {
  const count = Object.keys(entries).length;
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
