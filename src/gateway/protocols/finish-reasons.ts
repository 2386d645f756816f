import type { FinishReason } from '#gateway/neutral/answer-event.ts';
import type { ProviderError } from '#gateway/neutral/provider-report.ts';
import type { Json } from '#shared/json/json.ts';

/**
 * The reasons of providers in lower case: of OpenAI, of Anthropic
 * (https://docs.anthropic.com/en/api/handling-stop-reasons), of Mistral (`model_length`), of Gemini
 * (https://ai.google.dev/api/generate-content#FinishReason), of Cohere (https://docs.cohere.com/reference/chat), of
 * Hugging Face (`eos_token`), of Bedrock, and of Zhipu (`sensitive`). A `failed` answer did not end by itself; DeepSeek
 * has a reason of its own for that (https://api-docs.deepseek.com/api/create-chat-completion).
 */
const reasons: Readonly<Record<string, FinishReason | 'failed'>> = {
  stop_sequence: 'stop-sequence',
  length: 'length',
  max_length: 'length',
  model_length: 'length',
  max_tokens: 'length',
  max_output_tokens: 'length',
  max_completion_tokens: 'length',
  model_context_window_exceeded: 'length',
  error_limit: 'length',
  tool_calls: 'tool-calls',
  tool_call: 'tool-calls',
  tool_use: 'tool-calls',
  function_call: 'tool-calls',
  content_filter: 'filtered',
  content_filtered: 'filtered',
  guardrail_intervened: 'filtered',
  refusal: 'filtered',
  sensitive: 'filtered',
  safety: 'filtered',
  recitation: 'filtered',
  blocklist: 'filtered',
  prohibited_content: 'filtered',
  spii: 'filtered',
  image_safety: 'filtered',
  image_prohibited_content: 'filtered',
  image_recitation: 'filtered',
  error_toxic: 'filtered',
  error: 'failed',
  network_error: 'failed',
  insufficient_system_resource: 'failed',
  malformed_function_call: 'failed',
  unexpected_tool_call: 'failed',
  too_many_tool_calls: 'failed',
  malformed_response: 'failed',
  function_call_filter: 'failed',
};

export const failedAnswer: ProviderError = {
  message: 'The provider says that its answer failed.',
  ...{ type: null, code: null, param: null },
};

/** Maximum length of a reason. Longer ones are unknown. */
const maxReasonLength = 100;

/** True if there is a reason. Some providers send an empty one, or the text `null`, with every chunk. */
export function saysReason(said: Json | undefined): boolean {
  return typeof said === 'number' || (typeof said === 'string' && said !== '' && said !== 'null');
}

/**
 * The reason of the end. Some providers end a call of a tool with `stop`. An answer without a call asks for no tool,
 * whatever they say.
 */
export function finishReasonOf(said: Json | undefined, hasCalls: boolean): FinishReason | 'failed' {
  const name = saysReason(said) ? String(said).slice(0, maxReasonLength).toLowerCase() : '';
  // Gemini adds its own reason to that of OpenAI: `content_filter: RECITATION`.
  const [general = ''] = name.split(':', 1);
  const reason = reasons[general.replaceAll(/[^a-z]+/g, '_')] ?? 'stop';
  return reason === 'stop' || reason === 'tool-calls' ? (hasCalls ? 'tool-calls' : 'stop') : reason;
}
