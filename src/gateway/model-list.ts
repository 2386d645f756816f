import type { ConfigurationSnapshot } from '#gateway/providers/open-provider.ts';
import type { JsonObject } from '#shared/json/json.ts';
import type { ModelRoute } from './config/catalogue.ts';

/** The catalogue in the form of OpenAI's list of models: tags, and `auto` if it names a model. */
export function modelList(served: ConfigurationSnapshot): JsonObject {
  return { object: 'list', data: models(served) };
}

/** One of them; null for a model that is not in the list. */
export function modelNamed(served: ConfigurationSnapshot, name: string): JsonObject | null {
  return models(served).find(({ id }) => id === name) ?? null;
}

function models({ catalogue }: ConfigurationSnapshot): ReadonlyArray<JsonObject> {
  const tags = catalogue.models().map((route) => model(route.name, ownersOf(route)));
  return catalogue.hasAuto ? [model('auto', 'switchyard'), ...tags] : tags;
}

/** Models have no time of creation here. A fixed value does not change with a restart. */
const created = 1_767_225_600;

function model(id: string, owner: string): JsonObject {
  return { id, object: 'model', created, owned_by: owner };
}

/** The providers that serve a model, or `sandbox`. */
function ownersOf({ targets, fallbacks }: ModelRoute): string {
  return [
    ...new Set([...targets, ...fallbacks].map(({ provider, isSandbox }) => (isSandbox ? 'sandbox' : provider))),
  ].join(', ');
}
