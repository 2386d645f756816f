import { contextLengthCode } from '#exchange/openai-error.ts';
import type { ProviderError } from '#gateway/neutral/provider-report.ts';

/** Other names of the same error: of llama.cpp, of Z.ai and of LiteLLM. */
const otherNames = /^(?:exceed_context_size_error|model_context_window_exceeded|ContextWindowExceededError)$/;

/** A provider may repeat the request in its error. What the error says comes first. */
export const maxReadLength = 4_000;

const limit = '(?:(?:context|prompt|input|sequence)[ _](?:length|window|limit)|(?:context|prompt)[ _]size)';

/**
 * What providers say when a request is longer than the context of a model. `test/gateway/attempt/context-length.test.ts`
 * has their texts.
 */
const tooLong = new RegExp(
  [
    `max(?:imum)? (?:model )?${limit}`,
    `exceed(?:s|ed|ing)? ${limit}`,
    `(?:exceed(?:s|ed|ing)?|(?:longer|greater|larger) than) (?:(?:the|this|its|your|available|max|maximum|allowed|model|model's) )+${limit}`,
    `${limit} (?:has been |was |is )?(?:exceed|overflow|(?:of )?only \\d)`,
    'configured context size is',
    // Not too long to be something else.
    '(?:prompt|input|context|conversation) (?:is )?too long(?! to | for (?!(?:\\S+ ){0,3}(?:model|context)))',
    'prompt \\((?:total )?length \\d+\\) is (?:too long|longer than)',
    'prompt exceeds max length',
    'prompt 超长',
    'reduce the length of (?:the|your) (?:messages|prompt|input|conversation)',
    'exceeded model token limit',
    '(?:prompt|input) token count (?:of |is |\\()?\\d+\\)? (?:exceeds|but (?:the )?model only supports)',
    '(?:prompt|input) token count exceeds',
    'input tokens? (?:\\d+ )?(?:cannot )?exceed',
    'exceeds? (?:the )?n_ctx',
    'input length (?:of )?\\(?\\d+(?: tokens)?\\)? exceeds',
    '`inputs` (?:must have less than|tokens \\+ `max_new_tokens` must be)',
    'range of input length should be',
    'too many tokens: ',
    'too many input tokens',
    contextLengthCode,
  ].join('|'),
  'i',
);

/** Limits of an account, which pass with time. */
const passing = /rate.?limit|tokens? per (?:minute|day|hour)|\btp[md]\b/i;

/** Whether a provider says that a request is longer than the context of its model. */
export function isContextLength({ code, type, message }: ProviderError): boolean {
  if ([code, type].some((name) => name === contextLengthCode || (name !== null && otherNames.test(name)))) return true;
  const read = message.slice(0, maxReadLength);
  return tooLong.test(read) && !passing.test(read);
}

/** The error with the code that clients look for, if its own says nothing: there is none, a number, or its type again. */
export function withContextLengthCode(error: ProviderError): ProviderError {
  const { code, type } = error;
  const isNamed = code !== null && code !== type && !/^\d*$/.test(code);
  return isNamed || !isContextLength(error) ? error : { ...error, code: contextLengthCode };
}
