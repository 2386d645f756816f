import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import * as E from 'fp-ts/lib/Either.js';
import { builtInConfiguration } from '#gateway/config/configuration-file.ts';
import { decodeConfiguration } from '#gateway/config/decode-configuration.ts';
import type { Json } from '#shared/json/json.ts';

const example = {
  providers: {
    openai: {
      kind: 'openai-compatible',
      baseUrl: 'https://api.openai.com/v1',
      apiKeyEnv: 'OPENAI_API_KEY',
      anyVoice: false,
      timeouts: { connectMs: 5000, headersMs: 60000, firstContentMs: 60000, idleMs: 60000, totalMs: 600000 },
    },
  },
  models: {
    'gpt-large': {
      targets: [{ provider: 'openai', model: 'gpt-4.1', weight: 1 }],
      fallbacks: [
        {
          provider: 'openai',
          model: 'gpt-4.1-mini',
          prefill: true,
          price: { inputPerMillion: 0.4, outputPerMillion: 1.6 },
        },
      ],
      retries: 2,
      onStreamFailure: 'error',
      askUsage: false,
      timeouts: {},
      price: { inputPerMillion: 2.0, outputPerMillion: 8.0 },
    },
  },
  auto: { chat: { balanced: 'gpt-large' }, transcription: 'gpt-large' },
  voices: {
    narrator: {
      id: 'v1',
      provider: 'openai',
      voice: 'alloy',
      model: 'gpt-4o-mini-tts',
      fallbacks: [{ provider: 'openai', voice: 'echo', model: 'tts-1' }],
      retries: 1,
      timeouts: { firstContentMs: 10_000 },
      price: { perMillionCharacters: 15 },
    },
  },
  limits: { requestsPerMinute: 60, callsAtOnce: 4 },
};

const environment = { OPENAI_API_KEY: 'secret' };

/** Returns the example with a value set at a path; undefined removes the member. */
function changed(path: string, value: Json | undefined): unknown {
  const copy = structuredClone(example) as unknown;
  const keys = path.split('/').slice(1);
  let at = copy as Record<string, unknown>;
  for (const key of keys.slice(0, -1)) at = at[key] as Record<string, unknown>;
  const last = keys.at(-1) ?? '';
  if (value === undefined) delete at[last];
  else at[last] = value;
  return copy;
}

const issues = (value: unknown, variables: Record<string, string> = environment) => {
  const decoded = decodeConfiguration(value, variables);
  return E.isLeft(decoded) ? decoded.left.map(({ pointer, message }) => `${pointer} ${message}`) : [];
};

describe('gateway configuration', () => {
  it('accepts the documented example and the built-in configuration', () => {
    assert.deepEqual(issues(example), []);
    assert.deepEqual(issues(builtInConfiguration, {}), []);
  });

  it('accepts the example of docs/providers.md', () => {
    const page = readFileSync('docs/providers.md', 'utf8');
    const [, shown = ''] = /```json\n(.*?)```/s.exec(page) ?? [];
    const keys = { OPENAI_API_KEY: 'a', AZURE_API_KEY: 'b', ELEVENLABS_API_KEY: 'c', ANTHROPIC_API_KEY: 'd' };
    assert.deepEqual(issues(JSON.parse(shown), keys), []);
  });

  it('has a default for every key', () => {
    const decoded = decodeConfiguration({}, {});
    assert.ok(E.isRight(decoded));
    assert.deepEqual(decoded.right, {
      providers: {},
      models: {},
      auto: {
        chat: { fast: undefined, balanced: undefined, smart: undefined, turbo: undefined },
        transcription: undefined,
        embeddings: undefined,
      },
      voices: {},
      currency: 'USD',
      limits: { requestsPerMinute: undefined, callsAtOnce: undefined, organizationFactor: 10, partnerFactor: 10 },
    });
    const least = {
      providers: { p: { kind: 'sandbox' } },
      models: { m: { targets: [{ provider: 'p', model: 'x' }] } },
    };
    const small = decodeConfiguration(least, {});
    assert.ok(E.isRight(small));
    const { targets, fallbacks, retries, retryAfterMaxMs, onStreamFailure, askUsage } =
      small.right.models.m ?? assert.fail();
    assert.deepEqual(
      { targets, fallbacks, retries, retryAfterMaxMs, onStreamFailure, askUsage },
      {
        targets: [
          {
            ...{ provider: 'p', model: 'x', protocol: undefined, weight: 1, interchangeable: false, price: undefined },
            ...{ maxOutputTokens: undefined, maxTokens: undefined, reasoning: false, thinking: 'none' },
            returnsReasoning: undefined,
          },
        ],
        fallbacks: [],
        retries: 2,
        retryAfterMaxMs: 2_000,
        onStreamFailure: 'error',
        askUsage: false,
      },
    );
    assert.equal(small.right.providers.p?.anyVoice, false);
    const voiced = decodeConfiguration(
      { providers: { p: { kind: 'sandbox' } }, voices: { v: { provider: 'p', voice: 'x', model: 'y' } } },
      {},
    );
    assert.ok(E.isRight(voiced));
    const { fallbacks: spares, retries: tries, price } = voiced.right.voices.v ?? assert.fail();
    assert.deepEqual([spares, tries, price], [[], 2, undefined]);
  });

  const cases: ReadonlyArray<[string, Json | undefined, RegExp]> = [
    ['/modells', {}, /^\/modells is not a setting: there are providers, models, auto, voices, limits, currency$/],
    ['/providers', [], /^\/providers must be an object$/],
    ['/providers/openai/kind', 'open-ai', /^\/providers\/openai\/kind must be one of "openai-compatible", /],
    ['/providers/openai/kind', undefined, /^\/providers\/openai\/kind is required$/],
    ['/providers/openai/baseurl', 'x', /^\/providers\/openai\/baseurl is not a setting: there are kind, baseUrl, /],
    ['/providers/openai/baseUrl', 'api.openai.com', /^\/providers\/openai\/baseUrl must be an http or https URL$/],
    ['/providers/openai/baseUrl', 'https://u:p@x/', /^\/providers\/openai\/baseUrl must hold no user or password/],
    [
      '/providers/openai/timeouts/idleMs',
      0,
      /^\/providers\/openai\/timeouts\/idleMs must be a whole number from 1 to /,
    ],
    ['/providers/openai/timeouts/idle', 1, /^\/providers\/openai\/timeouts\/idle is not a setting/],
    ['/providers/openai/timeouts/idle', null, /^\/providers\/openai\/timeouts\/idle is not a setting/],
    ['/providers/openai/headers', { 'X-A': 'a\nb' }, /^\/providers\/openai\/headers\/X-A must be visible ASCII$/],
    ['/providers/openai/headers', { 'a(b': 'x' }, /^\/providers\/openai\/headers\/a\(b must be the name of a header$/],
    [
      '/providers/openai/headers',
      { 'Content-Length': '3' },
      /\/headers\/Content-Length is written by the gateway itself$/,
    ],
    [
      '/providers/openai/headers',
      { Authorization: 'x' },
      /\/headers\/Authorization must not hold secrets: use apiKeyEnv$/,
    ],
    ['/providers/openai/apiKeyHeader', 'Host', /^\/providers\/openai\/apiKeyHeader is written by the gateway itself$/],
    ['/providers/s', { kind: 'sandbox', baseUrl: 'http://x' }, /^\/providers\/s\/baseUrl has no effect on the sandbox/],
    ['/providers/sp ace', { kind: 'sandbox' }, /^\/providers\/sp ace must have a name of visible ASCII/],
    ['/models/gpt-large/targets', [], /^\/models\/gpt-large\/targets must have at least 1 item$/],
    [
      '/models/gpt-large/targets',
      { provider: 'openai', model: 'x' },
      /^\/models\/gpt-large\/targets must be an array$/,
    ],
    ['/models/gpt-large/targets', undefined, /^\/models\/gpt-large\/targets is required$/],
    [
      '/models/gpt-large/targets/0/provider',
      'opnai',
      /^\/models\/gpt-large\/targets\/0\/provider must be the name of a provider: there are openai$/,
    ],
    ['/models/gpt-large/targets/0/weight', -1, /^\/models\/gpt-large\/targets\/0\/weight must be a number from 0/],
    ['/models/gpt-large/targets/0/weight', 0, /^\/models\/gpt-large\/targets must hold one with a weight above 0$/],
    ['/models/gpt-large/targets/0/model', 'a\nb', /^\/models\/gpt-large\/targets\/0\/model must be visible ASCII/],
    [
      '/models/gpt-large/fallbacks/0/provider',
      'x',
      /^\/models\/gpt-large\/fallbacks\/0\/provider must be the name of a provider/,
    ],
    ['/models/gpt-large/onStreamFailure', 'retry', /^\/models\/gpt-large\/onStreamFailure must be one of "error", /],
    ['/models/gpt-large/retries', '2', /^\/models\/gpt-large\/retries must be a whole number from 0 to 10$/],
    [
      '/models/gpt-large/retryAfterMaxMs',
      15_001,
      /^\/models\/gpt-large\/retryAfterMaxMs must be a whole number from 0 to 15000$/,
    ],
    ['/models/gpt-large/price/input', 1, /^\/models\/gpt-large\/price\/input is not a setting/],
    ['/models/auto', { targets: [{ provider: 'openai', model: 'x' }] }, /^\/models\/auto is reserved/],
    ['/auto/chat/smart', 'gpt', /^\/auto\/chat\/smart must be the name of a model: there are gpt-large$/],
    ['/auto/chat', { fast: 'gpt-large' }, /^\/auto\/chat\/balanced is required/],
    ['/auto/transcription', 'gpt', /^\/auto\/transcription must be the name of a model/],
    ['/voices/narrator/provider', 'x', /^\/voices\/narrator\/provider must be the name of a provider/],
    [
      '/voices/other',
      { id: 'v1', provider: 'openai', voice: 'echo', model: 'x' },
      /^\/voices\/other\/id is the id of narrator, too$/,
    ],
    [
      '/voices/narrator/voices',
      {},
      /^\/voices\/narrator\/voices is not a setting: there are id, provider, voice, model, /,
    ],
    ['/voices/narrator/voice', undefined, /^\/voices\/narrator\/voice is required$/],
    ['/voices/narrator/fallbacks', {}, /^\/voices\/narrator\/fallbacks must be an array$/],
    [
      '/voices/narrator/fallbacks/0/provider',
      'x',
      /^\/voices\/narrator\/fallbacks\/0\/provider must be the name of a provider: there are openai$/,
    ],
    ['/voices/narrator/fallbacks/0/voice', undefined, /^\/voices\/narrator\/fallbacks\/0\/voice is required$/],
    ['/voices/narrator/fallbacks/0/prefill', true, /^\/voices\/narrator\/fallbacks\/0\/prefill is not a setting/],
    ['/voices/narrator/retries', 11, /^\/voices\/narrator\/retries must be a whole number from 0 to 10$/],
    ['/voices/narrator/timeouts/idle', 1, /^\/voices\/narrator\/timeouts\/idle is not a setting/],
    ['/voices/narrator/price/perCharacter', 1, /^\/voices\/narrator\/price\/perCharacter is not a setting: there are /],
    ['/voices/narrator/price/perMillionCharacters', -1, /^\/voices\/narrator\/price\/perMillionCharacters must be a /],
    [
      '/models/gpt-large/fallbacks/0/price/input',
      1,
      /^\/models\/gpt-large\/fallbacks\/0\/price\/input is not a setting: there are inputPerMillion, outputPerMillion, /,
    ],
    ['/models/gpt-large/price/cacheWriteHourPerMillion', -1, /cacheWriteHourPerMillion must be a number from 0/],
    ['/models/gpt-large/price/cacheWriteHourPerMillion', '6', /cacheWriteHourPerMillion must be a number from 0/],
    ['/models/gpt-large/price/perMinute', '1', /^\/models\/gpt-large\/price\/perMinute must be a number from 0/],
    ['/limits/callsAtOnce', 0, /^\/limits\/callsAtOnce must be a whole number/],
  ];
  for (const [path, value, expected] of cases)
    it(`reports the issue ${JSON.stringify(value)} at ${path}`, () => {
      const found = issues(changed(path, value));
      assert.equal(found.length, 1, found.join('\n'));
      assert.match(found[0] ?? '', expected);
    });

  it('accepts a protocol that the provider of a target speaks', () => {
    assert.deepEqual(issues(changed('/models/gpt-large/targets/0/protocol', 'openai-responses')), []);
  });

  it('says which protocols a provider speaks, and how it comes to speak the one that a target names', () => {
    const local = { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:8000/v1' };
    const found = (protocol: string, more: object = {}) =>
      issues({
        providers: { local, voice: { kind: 'elevenlabs' }, ...more },
        models: { m: { targets: [{ provider: 'local', model: 'x', protocol }] } },
      });
    assert.deepEqual(found('openai-responses'), [
      '/models/m/targets/0/protocol must be a protocol of local, which speaks openai-chat, and with "responses": true in its entry openai-responses',
    ]);
    assert.deepEqual(found('openai-responses', { local: { ...local, responses: true } }), []);
    assert.deepEqual(found('anthropic-messages', { local: { ...local, responses: true } }), [
      '/models/m/targets/0/protocol must be a protocol of local, which speaks openai-chat, openai-responses',
    ]);
    assert.deepEqual(found('openai-chat', { local: { kind: 'elevenlabs' } }), [
      '/models/m/targets/0/protocol must be a protocol of local, which speaks none',
    ]);
  });

  it('refuses that a target continues answers in a protocol that cannot', () => {
    assert.deepEqual(issues(changed('/models/gpt-large/fallbacks/0/protocol', 'openai-responses')), [
      '/models/gpt-large/fallbacks/0/prefill must be false: openai-responses has no way to continue the beginning of an answer',
    ]);
    assert.deepEqual(issues(changed('/models/gpt-large/fallbacks/0/protocol', 'openai-chat')), []);
  });

  it('reports every issue together', () => {
    assert.equal(
      issues({ providers: { a: { kind: 'x' }, b: { kind: 'sandbox', y: 1 } }, models: { m: {} } }).length,
      3,
    );
  });

  it('requires the variable of a key to be set, and never shows its value', () => {
    assert.deepEqual(issues(example, {}), [
      '/providers/openai/apiKeyEnv names OPENAI_API_KEY, which is not set in the environment',
    ]);
    const [found] = issues(example, { OPENAI_API_KEY: 'se\ncret' });
    assert.match(found ?? '', /is not valid in a header/);
    assert.doesNotMatch(found ?? '', /se\ncret/);
  });
});
