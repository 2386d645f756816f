import assert from 'node:assert/strict';
import fc from 'fast-check';
import * as E from 'fp-ts/lib/Either.js';
import { Catalogue, type ModelRoute, orderTargets } from '#gateway/config/catalogue.ts';
import { decodeConfiguration } from '#gateway/config/decode-configuration.ts';

const configuration = decodeConfiguration(
  {
    providers: {
      a: { kind: 'sandbox', timeouts: { idleMs: 7, headersMs: 8 } },
      b: { kind: 'sandbox' },
      any: { kind: 'sandbox', anyVoice: true },
    },
    models: {
      plain: { targets: [{ provider: 'a', model: 'x' }], timeouts: { idleMs: 9 } },
      split: {
        targets: [
          { provider: 'a', model: 'x', weight: 3 },
          { provider: 'b', model: 'y', weight: 1 },
          { provider: 'b', model: 'spare', weight: 0 },
        ],
        fallbacks: [
          { provider: 'any', model: 'f1' },
          { provider: 'b', model: 'f2', prefill: true },
        ],
      },
    },
    auto: { chat: { balanced: 'plain', smart: 'split' }, transcription: 'plain' },
    voices: {
      narrator: { id: 'v-1', provider: 'b', voice: 'alloy', model: 'tts' },
      'v-1': { provider: 'a', voice: 'echo', model: 'tts-a' },
      spared: {
        provider: 'a',
        voice: 'first',
        model: 'tts-a',
        fallbacks: [
          { provider: 'b', voice: 'second', model: 'tts-b', price: { perMillionCharacters: 7 } },
          { provider: 'b', voice: 'of y', model: 'y' },
        ],
        retries: 0,
        timeouts: { idleMs: 3 },
        price: { perMillionCharacters: 15 },
      },
    },
  },
  {},
);
assert.ok(E.isRight(configuration));
const catalogue = new Catalogue(configuration.right);

const right = (found: E.Either<unknown, ModelRoute>): ModelRoute =>
  E.isRight(found) ? found.right : assert.fail(JSON.stringify(found.left));
const ids = (route: ModelRoute) => ({
  targets: route.targets.map(({ id, voice }) => (voice ? `${id}:${voice}` : id)),
  fallbacks: route.fallbacks.map(({ id, voice }) => (voice ? `${id}:${voice}` : id)),
});

describe('Catalogue', () => {
  it('finds a model by its tag; its timeouts precede the provider’s, and those the defaults', () => {
    const [target] = right(catalogue.chat('plain', 'fast')).targets;
    assert.equal(target?.id, 'a/x');
    assert.deepEqual(target?.timeouts, {
      connectMs: 5_000,
      headersMs: 8,
      firstContentMs: 60_000,
      idleMs: 9,
      totalMs: 600_000,
      earlyHeadMs: 5_000,
    });
  });

  it('picks the model for auto by the hint, and uses balanced if the hint has no model', () => {
    assert.equal(right(catalogue.chat('auto', 'smart')).name, 'split');
    assert.equal(right(catalogue.chat('auto', 'turbo')).name, 'plain');
    assert.equal(right(catalogue.transcription('auto')).name, 'plain');
  });

  it('finds no model by another name', () => {
    for (const name of ['gpt-9', '', 'constructor', '__proto__'])
      assert.deepEqual(catalogue.chat(name, 'fast'), E.left({ kind: 'unknown-model', model: name }));
  });

  it('orders targets by weight, each once, those without weight last, then the fallbacks', () => {
    const route = right(catalogue.chat('split', 'fast'));
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { minLength: 3 }),
        (draws) => {
          let at = 0;
          const order = orderTargets(route, () => draws[at++ % draws.length] ?? 0).map(({ id }) => id);
          assert.deepEqual(order.slice(2), ['b/spare', 'any/f1', 'b/f2']);
          assert.deepEqual(order.slice(0, 2).toSorted(), ['a/x', 'b/y']);
          assert.equal(order[0], (draws[0] ?? 0) < 0.75 ? 'a/x' : 'b/y');
        },
      ),
    );
  });

  it('finds a voice by name before another voice’s id, with the voice’s own model', () => {
    for (const model of [null, 'auto']) {
      assert.deepEqual(ids(right(catalogue.speech(model, 'narrator'))).targets, ['b/tts:alloy']);
      assert.deepEqual(ids(right(catalogue.speech(model, 'v-1'))).targets, ['a/tts-a:echo']);
    }
  });

  it('adds a voice’s fallbacks to its route, with their own timeouts and price', () => {
    const route = right(catalogue.speech(null, 'spared'));
    assert.deepEqual(ids(route), { targets: ['a/tts-a:first'], fallbacks: ['b/tts-b:second', 'b/y:of y'] });
    assert.equal(route.retries, 0);
    assert.deepEqual(
      [...route.targets, ...route.fallbacks].map(({ price }) => price?.perMillionCharacters),
      [15, 7, 15],
    );
    const [{ timeouts: first } = assert.fail()] = route.targets;
    assert.deepEqual([first.headersMs, first.idleMs], [8, 3]);
    assert.equal(route.fallbacks[0]?.timeouts.idleMs, 3);
  });

  it('finds the voice for a named model among the fallbacks, that of the same model first', () => {
    assert.deepEqual(ids(right(catalogue.speech('split', 'spared'))), {
      targets: ['a/x:first', 'b/y:of y', 'b/spare:second'],
      fallbacks: ['b/f2:second'],
    });
  });

  it('lists every target that a call can go to', () => {
    assert.deepEqual([...catalogue.targetIds()].toSorted(), [
      'a/tts-a',
      'a/x',
      'any/f1',
      'b/f2',
      'b/spare',
      'b/tts',
      'b/tts-b',
      'b/y',
    ]);
  });

  it('routes speech with a named model to its targets that have the voice', () => {
    assert.deepEqual(ids(right(catalogue.speech('split', 'narrator'))), {
      targets: ['b/y:alloy', 'b/spare:alloy'],
      fallbacks: ['b/f2:alloy'],
    });
    assert.deepEqual(ids(right(catalogue.speech('split', 'unheard'))), { targets: [], fallbacks: ['any/f1:unheard'] });
  });

  it('refuses a voice that is unknown, or unknown to the named model', () => {
    const unknown = { kind: 'unknown-voice', voice: 'nobody', known: ['narrator', 'v-1', 'spared'] };
    assert.deepEqual(catalogue.speech('auto', 'nobody'), E.left(unknown));
    assert.deepEqual(catalogue.speech('plain', 'nobody'), E.left(unknown));
    assert.deepEqual(
      catalogue.speech('plain', 'narrator'),
      E.left({ kind: 'cannot-speak', model: 'plain', voice: 'narrator' }),
    );
    assert.deepEqual(catalogue.speech('none', 'narrator'), E.left({ kind: 'unknown-model', model: 'none' }));
  });
});

describe('the member for the limit of tokens', () => {
  const of = (provider: object, target: object = {}, model: object = {}) => {
    const decoded = decodeConfiguration(
      {
        providers: { p: { kind: 'openai-compatible', ...provider } },
        models: { m: { targets: [{ provider: 'p', model: 'x', ...target }], ...model } },
      },
      {},
    );
    assert.ok(E.isRight(decoded), JSON.stringify(decoded));
    return right(new Catalogue(decoded.right).chat('m', 'fast')).targets[0]?.maxTokens;
  };
  const at = (baseUrl: string) => ({ baseUrl });
  const [current, old] = ['max_completion_tokens', 'max_tokens'] as const;

  for (const [host, expected] of [
    ['https://api.openai.com/v1', current],
    ['https://eu.api.openai.com/v1', current],
    ['https://me.openai.azure.com/openai/v1', current],
    ['https://me.services.ai.azure.com/models', old],
    ['https://notopenai.com/v1', old],
    ['https://api.openai.com.example.com/v1', old],
    ['http://127.0.0.1:11434/v1', old],
  ] as const)
    it(`given ${host} when nothing is said then it is ${expected}`, () => {
      assert.equal(of(at(host)), expected);
    });

  it('given a kind of provider without an address when nothing is said then the kind decides', () => {
    assert.deepEqual([of({}), of({ kind: 'anthropic' }), of({ kind: 'sandbox' })], [current, old, old]);
  });

  it('given a target, a model and a provider that say it then the nearest counts', () => {
    const local = { ...at('http://127.0.0.1:1/v1'), maxTokens: current };
    assert.deepEqual(
      [of(local), of(local, {}, { maxTokens: old }), of(local, { maxTokens: current }, { maxTokens: old })],
      [current, old, current],
    );
  });

  it('given another word then it is an issue', () => {
    const provider = { kind: 'openai-compatible', maxTokens: 'maxTokens' };
    const decoded = decodeConfiguration({ providers: { p: provider }, models: {} }, {});
    assert.deepEqual(E.isLeft(decoded) && decoded.left.map(({ pointer }) => pointer), ['/providers/p/maxTokens']);
  });
});
