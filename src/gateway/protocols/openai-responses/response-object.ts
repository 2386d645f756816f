import type { FinishReason } from '#gateway/neutral/answer-event.ts';
import type { Tokens } from '#gateway/neutral/consumption.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';

/** The response repeats these members of its request. */
export const echoedMembers = [
  'instructions',
  'max_output_tokens',
  'max_tool_calls',
  'metadata',
  'parallel_tool_calls',
  'prompt_cache_key',
  'reasoning',
  'safety_identifier',
  'service_tier',
  'temperature',
  'text',
  'tool_choice',
  'tools',
  'top_logprobs',
  'top_p',
  'truncation',
  'user',
] as const;

export interface ResponseFrame {
  readonly id: string;
  readonly model: string;
  /** When it was created, in seconds since 1970. */
  readonly createdAt: number;
  readonly isStored: boolean;
  readonly previousResponseId: string | null;
  readonly echo: JsonObject;
}

interface ResponseEnd {
  readonly output: ReadonlyArray<JsonObject>;
  readonly reason: FinishReason;
  readonly tokens: Tokens | null;
}

/**
 * https://platform.openai.com/docs/api-reference/responses/object. What the request does not say has the default of the
 * reference.
 * @param end null for one that is not finished
 */
export function responseObject(frame: ResponseFrame, end: ResponseEnd | null): JsonObject {
  const { id, model, createdAt, isStored, previousResponseId, echo } = frame;
  const incomplete = end === null ? null : incompleteReason(end.reason);
  const { metadata, reasoning, text, tools, user, ...others } = echo;
  return {
    id,
    object: 'response',
    created_at: createdAt,
    status: end === null ? 'in_progress' : incomplete === null ? 'completed' : 'incomplete',
    background: false,
    completed_at: end === null || incomplete !== null ? null : Math.floor(Date.now() / 1_000),
    error: null,
    incomplete_details: incomplete === null ? null : { reason: incomplete },
    ...defaults,
    ...withoutNulls(others),
    metadata: isObject(metadata) ? metadata : {},
    model,
    output: end === null ? [] : end.output,
    previous_response_id: previousResponseId,
    reasoning: { effort: null, summary: null, ...(isObject(reasoning) ? reasoning : {}) },
    store: isStored,
    text: { format: { type: 'text' }, ...(isObject(text) ? text : {}) },
    tools: Array.isArray(tools) ? (tools as ReadonlyArray<Json>) : [],
    usage: end === null || end.tokens === null ? null : usageOf(end.tokens),
    ...(typeof user === 'string' ? { user } : {}),
  };
}

/** The response of a stream that has failed. It is not stored. @param error in OpenAI's form */
export function failedResponse(frame: ResponseFrame, { error }: JsonObject): JsonObject {
  const { code, type, message } = isObject(error) ? error : {};
  const failure = { code: code ?? type ?? 'server_error', message: message ?? '' };
  return { ...responseObject({ ...frame, isStored: false }, null), status: 'failed', error: failure };
}

const defaults = {
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  parallel_tool_calls: true,
  prompt_cache_key: null,
  safety_identifier: null,
  service_tier: 'default',
  temperature: 1,
  tool_choice: 'auto',
  top_logprobs: 0,
  top_p: 1,
  truncation: 'disabled',
} as const;

/** Removes members that are null, because a null means the default. */
function withoutNulls(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
}

/** Why the answer is incomplete; null for a complete one. */
export function incompleteReason(reason: FinishReason): string | null {
  if (reason === 'length') return 'max_output_tokens';
  return reason === 'filtered' ? 'content_filter' : null;
}

function usageOf({ input, output, cachedInput = 0, cacheWrite = 0, reasoning = 0 }: Tokens): JsonObject {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cachedInput, cache_write_tokens: cacheWrite },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}
