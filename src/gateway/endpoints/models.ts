import type { IncomingHttpHeaders } from 'node:http';
import * as t from 'io-ts';
import type { Caller } from '#domain/shared/access.ts';
import { anthropicErrors, type ErrorForm, openAiErrors } from '#exchange/error-form.ts';
import type { ModelRoute } from '#gateway/config/catalogue.ts';
import type { ConfigurationSnapshot } from '#gateway/config/configuration-snapshot.ts';
import { nullable } from '#shared/codecs/choice.ts';
import { integer } from '#shared/codecs/number.ts';
import type { JsonObject } from '#shared/json/json.ts';

/** Prices for a million tokens, for a million characters of speech, for a minute of audio. */
const TargetPrice = t.type({
  target: t.string,
  price: nullable(
    t.partial({
      inputPerMillion: t.number,
      outputPerMillion: t.number,
      cachedInputPerMillion: t.number,
      cacheWritePerMillion: t.number,
      cacheWriteHourPerMillion: t.number,
      perMillionCharacters: t.number,
      perMinute: t.number,
    }),
  ),
});

export const Model = t.intersection(
  [
    t.type({
      id: t.string,
      object: t.literal('model'),
      created: integer(0, Number.MAX_SAFE_INTEGER),
      owned_by: t.string,
    }),
    /** The prices, only for keys of the types `admin` and `partner`. */
    t.partial({ pricing: t.type({ currency: t.string, targets: t.readonlyArray(TargetPrice) }) }),
  ],
  'Model',
);

/** Models have no time of creation here. A fixed value does not change with a restart. */
const created = 1_767_225_600;

export const exampleModel = { id: 'gpt-large', object: 'model', created, owned_by: 'openai' };

/** Models are listed in Anthropic's form for its clients, which always name a version. */
export function formOfModels(headers: IncomingHttpHeaders): ErrorForm {
  return headers['anthropic-version'] === undefined ? openAiErrors : anthropicErrors;
}

type Reader = Pick<Caller, 'keyType'>;

/** The list in OpenAI's form: tags, and `auto` if it names a model. */
export function modelList(served: ConfigurationSnapshot, caller: Reader): JsonObject {
  return { object: 'list', data: models(served, caller) };
}

/** The model; null for one that is not in the list. */
export function modelNamed(served: ConfigurationSnapshot, name: string, caller: Reader): JsonObject | null {
  return models(served, caller).find(({ id }) => id === name) ?? null;
}

function models({ catalogue }: ConfigurationSnapshot, caller: Reader): ReadonlyArray<JsonObject> {
  const { currency } = catalogue;
  const tags = catalogue.models().map((route) => {
    const pricing = maySeePrices(caller) ? { pricing: { currency, targets: pricesOf(route) } } : {};
    return { ...model(route.name, ownersOf(route)), ...pricing };
  });
  return catalogue.hasAuto ? [model('auto', 'switchyard'), ...tags] : tags;
}

/** True for who runs the platform, and who resells it. */
function maySeePrices({ keyType }: Reader): boolean {
  return keyType === 'admin' || keyType === 'partner';
}

function pricesOf({ targets, fallbacks }: ModelRoute): ReadonlyArray<JsonObject> {
  const prices = new Map([...targets, ...fallbacks].map(({ id, price }) => [id, price]));
  return Array.from(prices, ([target, price]) => ({
    target,
    price: price === null ? null : ({ ...price } as JsonObject),
  }));
}

function model(id: string, owner: string): JsonObject {
  return { id, object: 'model', created, owned_by: owner };
}

function ownersOf({ targets, fallbacks }: ModelRoute): string {
  return [
    ...new Set([...targets, ...fallbacks].map(({ provider, isSandbox }) => (isSandbox ? 'sandbox' : provider))),
  ].join(', ');
}

/** The list in Anthropic's form, on one page (https://docs.anthropic.com/en/api/models-list). */
export function anthropicModelList(served: ConfigurationSnapshot): JsonObject {
  const data = namesIn(served).map(anthropicModelOf);
  return { data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
}

/** The model; null for one that is not in the list. */
export function anthropicModel(served: ConfigurationSnapshot, name: string): JsonObject | null {
  return namesIn(served).includes(name) ? anthropicModelOf(name) : null;
}

function namesIn({ catalogue }: ConfigurationSnapshot): ReadonlyArray<string> {
  const names = catalogue.models().map(({ name }) => name);
  return catalogue.hasAuto ? ['auto', ...names] : names;
}

function anthropicModelOf(name: string): JsonObject {
  return { type: 'model', id: name, display_name: name, created_at: new Date(created * 1_000).toISOString() };
}
