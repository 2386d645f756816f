import * as E from 'fp-ts/lib/Either.js';
import { openAiResponses } from '#gateway/protocols/openai-responses/openai-responses.ts';
import { openAiCompatible } from '#gateway/providers/openai-compatible.ts';
import { providerKinds } from '#gateway/providers/provider-kinds.ts';
import { checkHeaderValue } from '#gateway/providers/provider-settings.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import { convertPrice } from './convert-price.ts';
import type { Credentials } from './credentials.ts';
import { ImportReport, isVariableReference, Section, visible } from './import-report.ts';
import { type ProviderPrefix, providerPrefixes, providersWithoutKind } from './provider-prefixes.ts';
import type { ImportedProvider, ProviderKey, ProviderRegistry } from './provider-registry.ts';

/** An entry of `model_list` that can be a target here. */
export interface Deployment {
  readonly place: string;
  /** The `model_name` of the entry. */
  readonly group: string;
  /** The id by which a fallback may name it. */
  readonly id: string | undefined;
  readonly target: JsonObject;
  readonly weight: number | undefined;
  readonly order: number | undefined;
  readonly retries: { readonly num: number | undefined; readonly max: number | undefined };
  readonly timeoutMs: number | undefined;
}

/** What is known of the file while its deployments are converted. */
export interface ImportContext {
  readonly registry: ProviderRegistry;
  readonly credentials: Credentials;
  readonly report: ImportReport;
}

/** Null if the deployment is left out; the report says why. */
export function convertDeployment(value: Json, place: string, context: ImportContext): Deployment | null {
  // What a deployment that is left out says in detail is of no interest.
  const report = new ImportReport();
  const read = isObject(value) ? readDeployment(new Section(place, value, report), context) : E.left('it is not a map');
  if (E.isLeft(read)) {
    context.report.leaveOut(place, `the deployment is left out, because ${read.left}`);
    return null;
  }
  context.report.addAll(report);
  return read.right;
}

function readDeployment(entry: Section, { registry, credentials }: ImportContext): E.Either<string, Deployment> {
  const group = entry.take('model_name');
  const fault = typeof group === 'string' ? faultOfName(group) : 'its model_name is not a text';
  if (typeof group !== 'string' || fault !== null) return E.left(fault ?? '');
  const credited = credentials.withCredential(entry.takeSection('litellm_params'));
  if (E.isLeft(credited)) return credited;
  const { params, placeOf } = credited.right;
  const info = entry.takeSection('model_info');
  const named = readModel(params);
  if (E.isLeft(named)) return named;
  const mode = info.takeText('mode');
  if (mode !== undefined && !modes.has(mode)) return E.left(`no endpoint serves the mode ${visible(mode)}`);
  const { prefix, model, usesResponses } = named.right;
  const read = readProvider(params, prefix);
  if (E.isLeft(read)) return read;
  const provider = registry.nameOf(read.right, placeOf('api_key'), mode === 'audio_speech');
  const id = info.take('id');
  const timeout = params.takeNumber('timeout', 0.001, 86_400);
  const deployment: Deployment = {
    place: entry.place,
    group,
    id: typeof id === 'string' || typeof id === 'number' ? String(id) : undefined,
    target: {
      provider,
      model,
      ...(usesResponses ? protocolFor(read.right, params, 'model') : {}),
      ...(mode === 'responses' && !usesResponses ? protocolFor(read.right, info, 'mode') : {}),
      ...readTraits(params, info, prefix, mode),
    },
    weight: params.takeNumber('weight', 0, 1_000_000),
    order: params.takeInteger('order', -1_000_000, 1_000_000) ?? info.takeInteger('order', -1_000_000, 1_000_000),
    retries: { num: params.takeInteger('num_retries', 0, 10), max: params.takeInteger('max_retries', 0, 10) },
    timeoutMs: timeout === undefined ? undefined : Math.round(timeout * 1_000),
  };
  for (const section of [params, info, entry]) section.nameOthers();
  return E.right(deployment);
}

/**
 * LiteLLM calls a model of the mode `responses`, or with `responses/` before its name, with /responses for every client
 * (https://docs.litellm.ai/docs/providers/openai). OpenAI itself has it for certain.
 * @param name the member of the section that says so
 */
function protocolFor({ kind, baseUrl }: ImportedProvider, section: Section, name: string): JsonObject {
  if (kind === chatKind && baseUrl === null) return { protocol: openAiResponses.name };
  section.leaveOut(
    name,
    'only of OpenAI it is certain that it has /responses: if it has, write "responses": true in the provider, and protocol in the target',
  );
  return {};
}

function readProvider(params: Section, prefix: ProviderPrefix): E.Either<string, ImportedProvider> {
  const baseUrl = readBaseUrl(params, prefix);
  if (E.isLeft(baseUrl)) return baseUrl;
  const isUsual = baseUrl.right === prefix.baseUrl;
  const key = readKey(params, prefix, !isUsual);
  if (E.isLeft(key)) return key;
  return E.right({
    prefix: prefix.prefix,
    kind: prefix.kind,
    baseUrl: baseUrl.right,
    isUsual,
    key: key.right,
    headers: readHeaders(params),
  });
}

function readTraits(params: Section, info: Section, prefix: ProviderPrefix, mode: string | undefined): JsonObject {
  const maxOutputTokens = info.takeInteger('max_output_tokens', 1, 100_000_000);
  const reasoning = readReasoning(info, prefix);
  const price = convertPrice(params, info, mode);
  return {
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(reasoning ? { reasoning } : {}),
    ...(price === undefined ? {} : { price }),
  };
}

const chatKind = openAiCompatible.kind;
const usualUrls = new Map<string, string | undefined>(
  providerKinds.map(({ kind, address }) => [kind, address?.baseUrl]),
);
const responsesMark = 'responses/';
const modes = new Set(['chat', 'responses', 'embedding', 'audio_transcription', 'audio_speech']);

/** Null if a model here can have the name. */
export function faultOfName(name: string): string | null {
  if (name.includes('*'))
    return 'a name with * means models that the file does not name, and the catalogue names each model';
  if (name === 'auto') return 'the name auto is reserved for the section auto';
  return /^[\x21-\x7e]{1,200}$/.test(name)
    ? null
    : 'its name has other characters than visible ASCII, or more than 200';
}

interface NamedModel {
  readonly prefix: ProviderPrefix;
  readonly model: string;
  readonly usesResponses: boolean;
}

function readModel(params: Section): E.Either<string, NamedModel> {
  const [whole, custom] = [params.takeText('model'), params.takeText('custom_llm_provider')];
  if (whole === undefined || isVariableReference(whole))
    return E.left('litellm_params.model is not a text, or a variable');
  const parts = whole.split('/');
  const name = custom ?? (parts.length > 1 ? parts[0] : undefined);
  if (name === undefined)
    return E.left(
      `litellm_params.model has no provider before its name, which LiteLLM guesses: write openai/${visible(whole).slice(1, -1)}, or what it is`,
    );
  const prefix = providerPrefixes.find((each) => each.prefix === name);
  if (prefix === undefined)
    return E.left(
      providersWithoutKind.includes(name)
        ? `the import knows no kind of provider for ${name}`
        : `the provider ${visible(name)} is not known to this import`,
    );
  const rest = whole.startsWith(`${name}/`) ? whole.slice(name.length + 1) : whole;
  if (rest.includes('*'))
    return E.left('a model with * means all models of its provider, and the catalogue names each model');
  const usesResponses = rest.startsWith(responsesMark);
  const short = usesResponses ? rest.slice(responsesMark.length) : rest;
  const model = prefix.modelOf === undefined ? short : prefix.modelOf(short);
  if (model === null) return E.left('the full name of its model is not certain: write it with accounts/…');
  return /^[\x21-\x7e]{1,500}$/.test(model)
    ? E.right({ prefix, model, usesResponses })
    : E.left('the name of its model has other characters than visible ASCII, or more than 500');
}

/** The base URL; null for the kind's own. */
function readBaseUrl(params: Section, prefix: ProviderPrefix): E.Either<string, string | null> {
  const [apiBase, other] = [params.take('api_base'), params.take('base_url')];
  const written = apiBase ?? other;
  if (written === undefined || written === '')
    return prefix.baseUrl === undefined ? E.left('litellm_params.api_base is missing') : E.right(prefix.baseUrl);
  if (typeof written !== 'string' || isVariableReference(written))
    return E.left(
      'litellm_params.api_base is a variable or not a text, and a base URL is written in the file: write it there',
    );
  if (prefix.baseUrlOf === undefined) return E.left(`litellm_params.api_base has no place for ${prefix.prefix}`);
  const url = URL.parse(written);
  if (url === null || !['http:', 'https:'].includes(url.protocol))
    return E.left('litellm_params.api_base is not an http or https URL');
  // These may hold secrets, which are not printed.
  if (`${url.username}${url.password}${url.search}${url.hash}` !== '' || written.length > 1_900)
    return E.left('litellm_params.api_base has a user, a query or a fragment: write its provider yourself');
  const converted = prefix.baseUrlOf(`${url.origin}${url.pathname}`.replace(/\/+$/, ''));
  return E.right(prefix.baseUrl === null && converted === usualUrls.get(prefix.kind) ? null : converted);
}

/** @param hasOwnAddress whether the key goes to another address than that of the provider */
function readKey(params: Section, prefix: ProviderPrefix, hasOwnAddress: boolean): E.Either<string, ProviderKey> {
  const written = params.take('api_key');
  if (written === undefined || written === '') {
    const [first, ...others] = prefix.keys;
    if (first === undefined) return E.right(null);
    if (others.length > 0)
      params.note('api_key', `is missing: LiteLLM reads ${first}, else ${others.join(', ')}; here it is ${first}`);
    if (hasOwnAddress)
      params.note('api_key', `is missing: LiteLLM sends ${first} to this api_base too, and so does the gateway`);
    return E.right({ variable: first });
  }
  if (typeof written !== 'string') return E.left('litellm_params.api_key is not a text');
  const [, variable] = /^os\.environ\/([A-Za-z_]\w*)$/.exec(written) ?? [];
  if (variable !== undefined) return E.right({ variable });
  return isVariableReference(written)
    ? E.left('litellm_params.api_key names a variable in another form than os.environ/NAME')
    : E.right({ text: written });
}

/** Headers that documentation of providers names, and that hold no secrets. */
const publicHeaders = new Set([
  'http-referer',
  'x-title',
  'anthropic-version',
  'anthropic-beta',
  'openai-beta',
  'openai-organization',
  'openai-project',
]);

function readHeaders(params: Section): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  const organization = params.takeText('organization');
  if (organization !== undefined && (isVariableReference(organization) || checkHeaderValue(organization) !== null))
    params.leaveOut(
      'organization',
      'is a variable or not a value of a header: write it as the header OpenAI-Organization',
    );
  else if (organization !== undefined) headers['OpenAI-Organization'] = organization;
  for (const name of ['extra_headers', 'headers']) {
    const section = params.takeSection(name);
    for (const [header, value] of section.takeAll()) {
      const isPublic = publicHeaders.has(header.toLowerCase());
      if (!isPublic)
        section.leaveOut(
          header,
          'may hold a secret, so it is not printed: write it in headers of the provider if it holds none',
        );
      else if (
        typeof value !== 'string' ||
        isVariableReference(value) ||
        value.length > 2_000 ||
        checkHeaderValue(value) !== null
      )
        section.leaveOut(header, 'is a variable or not a value of a header');
      else headers[header] = value;
    }
  }
  return headers;
}

function readReasoning(info: Section, { kind }: ProviderPrefix): boolean {
  const value = info.take('supports_reasoning');
  if (value === undefined || value === false) return false;
  if (value === true && kind === chatKind) return true;
  info.leaveOut(
    'supports_reasoning',
    value === true
      ? 'how a model of this kind is asked to think is written as thinking of its target'
      : 'is neither true nor false',
  );
  return false;
}
