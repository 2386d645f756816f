import assert from 'node:assert/strict';
import { usageIn } from '#gateway/neutral/provider-report.ts';
import type { JsonObject } from '#shared/json/json.ts';

const counts = { prompt_tokens: 10, completion_tokens: 4, total_tokens: 14 };
const tokens = { input: 10, output: 4 };

describe('the usage in an answer', () => {
  const places: ReadonlyArray<readonly [string, JsonObject]> = [
    ['in `usage`', { usage: counts }],
    ['of Groq', { x_groq: { id: 'req', usage: { queue_time: 0.1, ...counts } } }],
    ['of Groq beside an empty one', { usage: null, x_groq: { usage: counts } }],
    ['of Moonshot in the choice', { choices: [{ index: 0, delta: {}, usage: counts }] }],
  ];
  for (const [what, value] of places)
    it(`is found, given that ${what}`, () => {
      assert.deepEqual(usageIn(value), tokens);
    });

  const cached: ReadonlyArray<readonly [string, JsonObject]> = [
    ['OpenAI', { prompt_tokens_details: { cached_tokens: 6 } }],
    ['Moonshot', { cached_tokens: 6 }],
    ['LiteLLM', { cache_read_input_tokens: 6 }],
    ['DeepSeek', { prompt_cache_hit_tokens: 6, prompt_cache_miss_tokens: 4 }],
  ];
  for (const [who, more] of cached)
    it(`has the cached tokens of ${who}, which are in the sum`, () => {
      assert.deepEqual(usageIn({ usage: { ...counts, ...more } }), { ...tokens, cachedInput: 6 });
    });

  it('adds the cached tokens of Anthropic, which are beside the sum', () => {
    const usage = { input_tokens: 10, output_tokens: 4, cache_read_input_tokens: 6, cache_creation_input_tokens: 2 };
    assert.deepEqual(usageIn({ usage }), { input: 18, output: 4, cachedInput: 6, cacheWrite: 2 });
  });

  it('has what Anthropic keeps for an hour, which is a part of what it writes', () => {
    const usage = {
      input_tokens: 10,
      output_tokens: 4,
      cache_creation_input_tokens: 7,
      cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 5 },
    };
    assert.deepEqual(usageIn({ usage }), { input: 17, output: 4, cacheWrite: 7, cacheWriteHour: 5 });
    assert.deepEqual(usageIn({ usage: { ...usage, cache_creation: null } }), { input: 17, output: 4, cacheWrite: 7 });
  });

  for (const [who, usage] of [
    ['a chat', { ...counts, prompt_tokens_details: { cache_write_tokens: 3 } }],
    ['Responses', { input_tokens: 10, output_tokens: 4, input_tokens_details: { cache_write_tokens: 3 } }],
  ] as const)
    it(`has what OpenAI writes to its cache in ${who}, which is in the sum`, () => {
      assert.deepEqual(usageIn({ usage }), { ...tokens, cacheWrite: 3 });
    });

  it('has reasoning in its output, given that the total counts it apart as that of xAI', () => {
    const details = { completion_tokens_details: { reasoning_tokens: 5 } };
    assert.deepEqual(usageIn({ usage: { ...counts, total_tokens: 19, ...details } }), {
      input: 10,
      output: 9,
      reasoning: 5,
    });
    assert.deepEqual(usageIn({ usage: { ...counts, ...details } }), { ...tokens, reasoning: 5 });
  });

  it('has thoughts in its output, given that only the total counts them as that of Gemini', () => {
    assert.deepEqual(usageIn({ usage: { ...counts, total_tokens: 150 } }), { input: 10, output: 140 });
    const cached = { cache_read_input_tokens: 136 };
    assert.deepEqual(usageIn({ usage: { ...counts, total_tokens: 150, ...cached } })?.output, 4);
    assert.deepEqual(usageIn({ usage: { ...counts, total_tokens: 3 } }), tokens);
  });

  it('is none, given values that cannot be counted', () => {
    for (const value of [
      {},
      { usage: {} },
      { usage: { prompt_tokens: -1 } },
      { x_groq: 1 },
      { choices: [null] },
      { choices: [] },
    ])
      assert.equal(usageIn(value as JsonObject), null, JSON.stringify(value));
  });
});
