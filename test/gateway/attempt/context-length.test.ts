import assert from 'node:assert/strict';
import { contextLengthCode } from '#exchange/openai-error.ts';
import { isContextLength, withContextLengthCode } from '#gateway/attempt/context-length.ts';
import { providerErrorIn } from '#gateway/neutral/provider-report.ts';
import { tooLongTexts } from '#test/gateway/support/too-long-texts.ts';

const errorOf = (message: string) => ({ message, type: null, code: null, param: null });

describe('too long a context', () => {
  for (const [provider, text] of tooLongTexts)
    it(`is what ${provider} says: ${text.slice(0, 60)}`, () => assert.ok(isContextLength(errorOf(text)), text));

  for (const text of [
    'max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.',
    'max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens for this model',
    'Request too large for model `llama-3.1-8b-instant` in organization `org_1` on tokens per minute (TPM): Limit 6000, Requested 14368, please reduce your message size and try again.',
    "This request would exceed your organization's rate limit of 30,000 input tokens per minute (org: 9d50ef40-6cc8-4ca6-9d35-1dc9cf26235c). Please reduce the prompt length or the maximum tokens requested, or try again later.",
    'Too many tokens, please wait before trying again.',
    'Too many tokens for team e9fe19cb-de96-4c57-9ffb-2f1b9c631ce2 and model grok-4-0709. Your team’s rate limit is — Tokens per Minute (actual/limit): 65605/16000.',
    'The long context beta is not yet available for this subscription.',
    "Unknown parameter: 'context_window'.",
    'messages.0.content.0.text: string too long. Expected a string with maximum length 1048576',
    'Invalid value: the length of the tool name is too long',
    'Image input size exceeds limit',
    'Your prompt is too long to be an image caption',
    'The context window only supports text input',
    'Invalid value for context_length: context length of only digits',
  ])
    it(`is not: ${text.slice(0, 60)}`, () => assert.ok(!isContextLength(errorOf(text)), text));

  it('is known by its code and its type too', () => {
    assert.ok(isContextLength({ ...errorOf('No.'), code: contextLengthCode }));
    assert.ok(isContextLength({ ...errorOf('No.'), type: 'exceed_context_size_error', code: '400' }));
  });

  it('gets the code that clients look for, unless it has one of its own', () => {
    const message = 'prompt is too long: 210000 tokens > 200000 maximum';
    const codeOf = (error: object) => {
      const said = providerErrorIn({ error: { message, ...error } });
      return said === null ? null : withContextLengthCode(said).code;
    };
    for (const error of [{}, { code: null }, { code: 400 }, { code: '' }, { type: 'invalid_request_error' }])
      assert.equal(codeOf(error), contextLengthCode, JSON.stringify(error));
    // DeepSeek repeats the type.
    const repeated = { type: 'invalid_request_error', code: 'invalid_request_error' };
    assert.equal(codeOf(repeated), contextLengthCode);
    assert.equal(codeOf({ code: 'string_above_max_length' }), 'string_above_max_length');
    assert.equal(codeOf({ message: 'No.', code: null }), null);
  });

  it('is not looked for in what an error repeats of the request', () => {
    const repeated = `Invalid tool: ${'x'.repeat(5_000)} the prompt is too long`;
    assert.ok(!isContextLength(errorOf(repeated)));
  });
});
