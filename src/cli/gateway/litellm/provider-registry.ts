import type { JsonObject } from '#shared/json/json.ts';
import { FreeNames } from './free-names.ts';
import type { ImportReport } from './import-report.ts';

/** How a provider gets its key: from a variable, or a text in the file, which needs a new variable. */
export type ProviderKey = { readonly variable: string } | { readonly text: string } | null;

export interface ImportedProvider {
  /** The provider's name in LiteLLM. */
  readonly prefix: string;
  readonly kind: string;
  /** The base URL; null for the kind's own. */
  readonly baseUrl: string | null;
  /** True if this is the provider that the prefix means. */
  readonly isUsual: boolean;
  readonly key: ProviderKey;
  readonly headers: Readonly<Record<string, string>>;
}

interface NamedProvider {
  readonly name: string;
  readonly provider: ImportedProvider;
  readonly keyPlaces: Set<string>;
  takesAnyVoice: boolean;
}

/** One readable name for each provider, whatever the number of its deployments. */
export class ProviderRegistry {
  readonly #byIdentity = new Map<string, NamedProvider>();
  readonly #names = new FreeNames('-');

  /**
   * @param keyPlace where the file has the key
   * @param speaks the deployment is for speech
   * @returns the provider's name
   */
  nameOf(provider: ImportedProvider, keyPlace: string, speaks: boolean): string {
    const { kind, baseUrl, key, headers } = provider;
    const identity = JSON.stringify([kind, baseUrl, key, Object.entries(headers).toSorted()]);
    const known = this.#byIdentity.get(identity) ?? {
      name: this.#names.take(readableName(provider)),
      provider,
      keyPlaces: new Set(),
      takesAnyVoice: false,
    };
    this.#byIdentity.set(identity, known);
    known.keyPlaces.add(keyPlace);
    known.takesAnyVoice ||= speaks;
    return known.name;
  }

  /** The providers, with the variables that must be set. @param variables those that the file names */
  configured(variables: ReadonlySet<string>, report: ImportReport): JsonObject {
    const all = [...this.#byIdentity.values()];
    const named = all.flatMap(({ provider: { key } }) => (key !== null && 'variable' in key ? [key.variable] : []));
    const free = new FreeNames('_', [...variables, ...named]);
    return Object.fromEntries(
      all.map(({ name, provider, keyPlaces, takesAnyVoice }) => {
        const { kind, baseUrl, key, headers } = provider;
        const variable = key === null ? undefined : 'variable' in key ? key.variable : free.take(variableFor(name));
        if (key !== null && 'text' in key)
          for (const place of keyPlaces)
            report.note(place, `holds a key, which is not copied: set the variable ${variable} to it`);
        const configuration = {
          kind,
          ...(baseUrl === null ? {} : { baseUrl }),
          ...(variable === undefined ? {} : { apiKeyEnv: variable }),
          ...(Object.keys(headers).length === 0 ? {} : { headers }),
          ...(takesAnyVoice ? { anyVoice: true } : {}),
        };
        return [name, configuration];
      }),
    );
  }
}

function variableFor(name: string): string {
  return `${name.toUpperCase().replaceAll(/\W/g, '_')}_API_KEY`;
}

/** The name of a provider at its usual address is its prefix; else the host follows. */
function readableName({ prefix, baseUrl, isUsual }: ImportedProvider): string {
  if (isUsual || baseUrl === null) return prefix;
  const { host } = new URL(baseUrl);
  return `${prefix}-${host.replaceAll(/[^\w.-]/g, '-')}`.slice(0, 150);
}
