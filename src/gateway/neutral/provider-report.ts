import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';
import type { Tokens } from './consumption.ts';

/** An error of a provider, inside a stream or as an answer. */
export interface ProviderError {
  readonly message: string;
  readonly type: string | null;
  readonly code: string | null;
  readonly param: string | null;
}

/** The members in which a provider reports an error or what a call has used. */
export const reportMembers: ReadonlyArray<string> = [
  ...['error', 'detail', 'choices', 'object', 'type', 'message', 'code', 'param'],
  ...['usage', 'x_groq', 'duration', 'audio_duration_secs'],
];

/** The error in any of the shapes that providers use; null without one. */
export function providerErrorIn(value: JsonObject): ProviderError | null {
  const { error, detail } = value;
  if (typeof error === 'string' && error !== '') return errorOf({ message: error });
  if (typeof detail === 'string' && value.choices === undefined) return errorOf({ message: detail });
  if (isObject(error)) return errorOf(error);
  if (isObject(detail)) return errorOf({ ...detail, code: detail.code ?? detail.status });
  if (value.object === 'error' || (value.type === 'error' && value.message !== undefined)) return errorOf(value);
  return null;
}

/** OpenRouter reports errors in a choice too (https://openrouter.ai/docs/api-reference/errors). Null for none. */
export function errorOfChoices({ choices }: JsonObject): ProviderError | null {
  if (!Array.isArray(choices)) return null;
  for (const choice of choices) {
    const { error } = isObject(choice) ? choice : {};
    if (isObject(error) || (typeof error === 'string' && error !== '')) return providerErrorIn({ error });
  }
  return null;
}

/**
 * The tokens of a whole answer or of a chunk, wherever a provider has them: Groq in `x_groq`, Moonshot in the choice
 * (https://platform.moonshot.ai/docs/api/chat). Null for none.
 */
export function usageIn(value: JsonObject): Tokens | null {
  return tokensIn(value.usage) ?? tokensInside(value.x_groq) ?? tokensOfChoice(value.choices);
}

function tokensOfChoice(choices: Json | undefined): Tokens | null {
  return Array.isArray(choices) ? tokensInside(choices[0]) : null;
}

function tokensInside(value: Json | undefined): Tokens | null {
  return isObject(value) ? tokensIn(value.usage) : null;
}

/** The tokens under any of the names in use; null for none. */
function tokensIn(usage: Json | undefined): Tokens | null {
  if (!isObject(usage)) return null;
  const input = usage.prompt_tokens ?? usage.input_tokens;
  const output = usage.completion_tokens ?? usage.output_tokens ?? 0;
  if (!isCount(input) || !isCount(output)) return null;
  // Anthropic counts cached tokens apart (https://docs.anthropic.com/en/api/messages#response-usage). Proxies that speak as
  // OpenAI report them under the same names, but in the sum.
  const cacheRead = countIn(usage.cache_read_input_tokens);
  const cacheWrite = countIn(usage.cache_creation_input_tokens);
  const cachedInput = cacheRead ?? cachedIn(usage);
  const written =
    cacheWrite ?? countInside(usage.prompt_tokens_details ?? usage.input_tokens_details, 'cache_write_tokens');
  const writtenForAnHour = countInside(usage.cache_creation, 'ephemeral_1h_input_tokens');
  const reasoning = countInside(usage.completion_tokens_details ?? usage.output_tokens_details, 'reasoning_tokens');
  // xAI counts reasoning apart (https://docs.x.ai/docs/key-information/consumption-and-rate-limits), and so does Gemini, which
  // may say so in the total alone (https://ai.google.dev/gemini-api/docs/thinking#pricing).
  const rest = isCount(usage.total_tokens) ? usage.total_tokens - input - output : 0;
  const isApart = rest > 0 && (reasoning === null ? cacheRead === null && cacheWrite === null : rest === reasoning);
  return {
    input: usage.prompt_tokens === undefined ? input + (cacheRead ?? 0) + (cacheWrite ?? 0) : input,
    output: isApart ? output + rest : output,
    ...(cachedInput === null ? {} : { cachedInput }),
    ...(written === null ? {} : { cacheWrite: written }),
    ...(writtenForAnHour === null ? {} : { cacheWriteHour: writtenForAnHour }),
    ...(reasoning === null ? {} : { reasoning }),
  };
}

/** Cached tokens that are counted with the others: Moonshot and DeepSeek have names of their own for them. */
function cachedIn(usage: JsonObject): number | null {
  return (
    countInside(usage.prompt_tokens_details ?? usage.input_tokens_details, 'cached_tokens') ??
    countIn(usage.cached_tokens) ??
    countIn(usage.prompt_cache_hit_tokens)
  );
}

function countIn(value: Json | undefined): number | null {
  return isCount(value) ? value : null;
}

function countInside(details: Json | undefined, name: string): number | null {
  return isObject(details) ? countIn(details[name]) : null;
}

/** Whether a provider's value can be added to a sum. */
export function isCount(value: Json | undefined): value is number {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
}

/** The length of a transcribed audio, under any of the names in use; null if the answer does not state it. */
export function audioSecondsIn({ usage, duration, audio_duration_secs: whole }: JsonObject): number | null {
  const stated = (isObject(usage) ? usage.seconds : undefined) ?? duration ?? whole;
  return isCount(stated) ? stated : null;
}

function errorOf({ message, type, code, param, metadata }: JsonObject): ProviderError {
  return {
    message:
      typeof message === 'string' && message !== ''
        ? withRawError(message, metadata)
        : 'The provider reported an error without a message.',
    type: typeof type === 'string' ? type : null,
    code: typeof code === 'string' || typeof code === 'number' ? String(code) : null,
    param: typeof param === 'string' ? param : null,
  };
}

/** OpenRouter's own text says nothing. The error that it got is another member (https://openrouter.ai/docs/api-reference/errors). */
function withRawError(message: string, metadata: Json | undefined): string {
  const raw = isObject(metadata) ? metadata.raw : undefined;
  const saysNothing = message === 'Provider returned error' && typeof raw === 'string' && raw !== '';
  return saysNothing ? `${message}: ${raw.slice(0, maxRawLength)}` : message;
}

const maxRawLength = 2_000;
