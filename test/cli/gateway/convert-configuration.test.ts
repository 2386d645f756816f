import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import * as E from 'fp-ts/lib/Either.js';
import { convertConfiguration, type ImportedConfiguration } from '#cli/gateway/litellm/convert-configuration.ts';
import { providerPrefixes, providersWithoutKind } from '#cli/gateway/litellm/provider-prefixes.ts';
import { parseYaml } from '#cli/gateway/litellm/read-yaml.ts';
import { knownSettings } from '#cli/gateway/litellm/settings.ts';
import { decodeConfiguration } from '#gateway/config/decode-configuration.ts';
import { isObject, type Json, type JsonObject } from '#shared/json/json.ts';

const folder = new URL('../../fixtures/litellm/', import.meta.url);
const fixtures = globSync('*.yaml', { cwd: folder }).toSorted();

function read(text: string): JsonObject {
  const parsed = parseYaml(text);
  if (E.isLeft(parsed) || !isObject(parsed.right)) return assert.fail(`not read: ${JSON.stringify(parsed)}`);
  return parsed.right;
}

const fixture = (name: string) => read(readFileSync(new URL(name, folder), 'utf8'));
const everyVariable = new Proxy({}, { get: () => 'set' });

function assertValid({ configuration }: ImportedConfiguration): void {
  const decoded = decodeConfiguration(configuration, everyVariable);
  assert.ok(E.isRight(decoded), JSON.stringify(decoded));
}

/** A place in a tree: names and indexes from the outside in. */
type Path = ReadonlyArray<string | number>;

function pathsIn(value: Json | undefined, path: Path = []): ReadonlyArray<Path> {
  if (Array.isArray(value)) return value.flatMap((each, index) => pathsIn(each, [...path, index]));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, each]) => [[...path, name], ...pathsIn(each, [...path, name])]);
}

/** A copy of a tree with another value at one place; without the member for undefined. */
function changed(value: Json | undefined, [first, ...rest]: Path, to: Json | undefined): Json | undefined {
  if (first === undefined) return to;
  if (Array.isArray(value))
    return value.map((each, index) => (index === first ? (changed(each, rest, to) ?? null) : each));
  return isObject(value) ? { ...value, [first]: changed(value[first], rest, to) } : value;
}

const placeOf = (path: Path) =>
  path.reduce<string>((place, each) => {
    if (typeof each === 'number') return `${place}[${each}]`;
    if (!/^[\w-]+$/.test(each)) return `${place}["${each}"]`;
    return place === '' ? each : `${place}.${each}`;
  }, '');

const texts = ({ remarks }: ImportedConfiguration) =>
  remarks.map(({ kind, place, text }) => `${kind}: ${place}: ${text}`);

/** A tree with one value at a place of the table. */
function treeWith(place: string, value: Json): JsonObject {
  const deployment = { model_name: 'm', litellm_params: { model: 'openai/m' }, model_info: {} };
  const credential = { credential_name: 'c', credential_values: {} };
  const path = place.split('.').flatMap((name) => (name.endsWith('[]') ? [name.slice(0, -2), 0] : [name]));
  const sections = { litellm_settings: {}, router_settings: {}, general_settings: {} };
  const tree = changed({ model_list: [deployment], credential_list: [credential], ...sections }, path, value);
  return isObject(tree) ? tree : assert.fail(place);
}

describe("a configuration of LiteLLM's proxy", () => {
  for (const name of fixtures) {
    it(`becomes a valid one, of which every member is converted or named: ${name}`, () => {
      const tree = fixture(name);
      const imported = convertConfiguration(tree);
      assertValid(imported);
      for (const path of pathsIn(tree)) {
        const place = placeOf(path);
        const isNamed = imported.remarks.some(
          (remark) =>
            place === remark.place || place.startsWith(`${remark.place}.`) || place.startsWith(`${remark.place}[`),
        );
        // The usual modes change nothing.
        if (isNamed || place.endsWith('.model_info.mode')) continue;
        const without = changed(tree, path, undefined);
        const other = convertConfiguration(isObject(without) ? without : {});
        assert.notDeepEqual(other, imported, `${place} is neither converted nor named`);
      }
    });

    it(`never shows a secret: ${name}`, () => {
      const { configuration, remarks } = convertConfiguration(fixture(name));
      assert.doesNotMatch(JSON.stringify([configuration, remarks]), /secret-\d/);
    });
  }

  it('becomes a valid one, without a failure and without a secret, whatever one of its values is', () => {
    const trees = fixtures.map(fixture);
    const places = trees.flatMap((tree) => pathsIn(tree).map((path) => [tree, path] as const));
    const value = fc.oneof(
      fc.constantFrom<Json[]>(
        null,
        '',
        ' ',
        'os.environ/NAME',
        'os.environ/not-a-name',
        '*',
        'a/b',
        'auto',
        '__proto__',
        1.5,
        -1,
        1e300,
      ),
      fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>,
    );
    fc.assert(
      fc.property(fc.constantFrom(...places), value, ([tree, path], to) => {
        const other = changed(tree, path, to);
        const imported = convertConfiguration(isObject(other) ? other : {});
        if (Object.keys(imported.configuration.models).length > 0) assertValid(imported);
        assert.doesNotMatch(JSON.stringify(imported), /secret-\d/);
      }),
      { numRuns: 1_000 },
    );
  });

  it('has each converted setting of the table in a fixture', () => {
    const present = new Set(
      fixtures.flatMap((name) => pathsIn(fixture(name)).map((path) => placeOf(path).replaceAll(/\[\d+\]/g, '[]'))),
    );
    const converted = knownSettings.filter(({ kind }) => kind === 'converted').flatMap(({ places }) => places);
    const perTarget = (place: string) => place.replace('.model_info.', '.litellm_params.');
    const either = new Set(Array.from(present, perTarget));
    assert.deepEqual(
      converted.filter((place) => !present.has(place) && !either.has(perTarget(place))),
      [],
    );
  });

  it('names every other setting of the table with its reason', () => {
    for (const { kind, places, text } of knownSettings.filter((each) => each.kind !== 'converted'))
      for (const place of places) {
        const expected = `${kind === 'absent' ? 'left out' : 'note'}: ${place.replaceAll('[]', '[0]')}: ${text}`;
        assert.ok(texts(convertConfiguration(treeWith(place, 'x'))).includes(expected), expected);
      }
  });

  it('names each setting once in the table', () => {
    const places = knownSettings.flatMap((each) => each.places);
    assert.deepEqual(places.length, new Set(places).size);
  });

  it('is asked with Responses where LiteLLM does so, if it is OpenAI', () => {
    const imported = (litellm_params: JsonObject) => {
      const result = convertConfiguration({
        model_list: [{ model_name: 'm', litellm_params, model_info: { mode: 'responses' } }],
      });
      assertValid(result);
      return result;
    };
    assert.deepEqual(imported({ model: 'openai/m' }).configuration.models.m, {
      targets: [{ provider: 'openai', model: 'm', protocol: 'openai-responses' }],
    });
    const elsewhere = imported({ model: 'groq/m' });
    assert.deepEqual(elsewhere.configuration.models.m, { targets: [{ provider: 'groq', model: 'm' }] });
    assert.ok(texts(elsewhere).some((text) => text.startsWith('left out: model_list[0].model_info.mode: ')));
  });

  it('is asked with Responses where the name of a model says so, if it is OpenAI', () => {
    const imported = (model: string) =>
      convertConfiguration({ model_list: [{ model_name: 'm', litellm_params: { model, api_key: 'os.environ/K' } }] });
    const openAi = imported('openai/responses/gpt-5.4');
    assertValid(openAi);
    assert.deepEqual(
      [openAi.configuration.models.m, openAi.remarks.filter(({ kind }) => kind === 'left out')],
      [{ targets: [{ provider: 'openai', model: 'gpt-5.4', protocol: 'openai-responses' }] }, []],
    );
    const elsewhere = imported('groq/responses/m');
    assert.deepEqual(elsewhere.configuration.models.m, { targets: [{ provider: 'groq', model: 'm' }] });
    assert.ok(texts(elsewhere).some((text) => text.startsWith('left out: model_list[0].litellm_params.model: ')));
  });

  it('keeps a model with a name that objects of JavaScript have', () => {
    for (const name of ['__proto__', 'constructor']) {
      const imported = convertConfiguration({
        model_list: [{ model_name: name, litellm_params: { model: 'openai/m' } }],
      });
      assertValid(imported);
      assert.deepEqual(Object.keys(imported.configuration.models), [name]);
    }
  });

  it('has the first of several credentials with one name, as LiteLLM has, and names the others', () => {
    const credential = (base: string) => ({ credential_name: 'c', credential_values: { api_base: base } });
    const imported = convertConfiguration({
      model_list: [{ model_name: 'm', litellm_params: { model: 'openai/m', litellm_credential_name: 'c' } }],
      credential_list: [credential('https://first.example/v1'), credential('https://second.example/v1')],
    });
    assert.deepEqual(Object.keys(imported.configuration.providers), ['openai-first.example']);
    assert.ok(texts(imported).some((text) => text.startsWith('left out: credential_list[1]: ')));
  });

  it('says what is wrong with supports_reasoning, whatever the provider', () => {
    const named = (model: string, supports_reasoning: Json) =>
      convertConfiguration({
        model_list: [{ model_name: 'm', litellm_params: { model }, model_info: { supports_reasoning } }],
      }).remarks.find(({ place }) => place.endsWith('.supports_reasoning'))?.text;
    assert.equal(named('openai/m', 'true'), 'is neither true nor false');
    assert.equal(named('anthropic/m', 'true'), 'is neither true nor false');
    assert.match(named('anthropic/m', true) ?? '', /thinking/);
    assert.equal(named('openai/m', true), undefined);
  });

  it('converts each prefix of the table, and leaves out those without a kind', () => {
    const named = (prefix: string) =>
      convertConfiguration({
        model_list: [{ model_name: 'm', litellm_params: { model: `${prefix}/m`, api_base: undefined } }],
      });
    for (const { prefix, baseUrl } of providerPrefixes)
      assert.equal('m' in named(prefix).configuration.models, baseUrl !== undefined, prefix);
    for (const prefix of providersWithoutKind)
      assert.deepEqual(texts(named(prefix)).slice(0, 1), [
        `left out: model_list[0]: the deployment is left out, because the import knows no kind of provider for ${prefix}`,
      ]);
  });
});

describe('deployments of LiteLLM with one name', () => {
  const modelsOf = (yaml: string) => convertConfiguration(read(yaml)).configuration.models;
  const deployment = (name: string, params: string, info = '{}') =>
    `  - { model_name: ${name}, litellm_params: { api_key: os.environ/K, ${params} }, model_info: ${info} }\n`;
  const target = (model: string, more: object = {}) => ({ provider: 'openai', model, ...more });

  it('have no weight where another one has, as LiteLLM draws them', () => {
    const one = deployment('m', 'model: openai/a, weight: 2') + deployment('m', 'model: openai/b');
    assert.deepEqual(modelsOf(`model_list:\n${one}`).m, {
      targets: [target('a', { weight: 2 }), target('b', { weight: 0 })],
    });
  });

  it('are targets and fallbacks by their order, those without one last', () => {
    const list = ['a, order: 2', 'b', 'c, order: 1', 'd, order: 1'].map((each) =>
      deployment('m', `model: openai/${each}`),
    );
    assert.deepEqual(modelsOf(`model_list:\n${list.join('')}`).m, {
      targets: [target('c'), target('d')],
      fallbacks: [target('a'), target('b')],
    });
  });

  it('are fallbacks by their weight, the highest first, and each weight that nothing is drawn by is named', () => {
    const list =
      deployment('m', 'model: openai/a, order: 1, weight: 5') +
      deployment('m', 'model: openai/b, order: 2, weight: 1') +
      deployment('m', 'model: openai/c, order: 2, weight: 4') +
      deployment('l', 'model: openai/d, weight: 1') +
      deployment('l', 'model: openai/e, weight: 2') +
      deployment('o', 'model: openai/f') +
      deployment('p', 'model: openai/g');
    const imported = convertConfiguration(
      read(`model_list:\n${list}router_settings: { fallbacks: [{ o: [l] }, { p: [l] }] }`),
    );
    const models = imported.configuration.models as Record<string, { targets: unknown; fallbacks: unknown }>;
    assert.deepEqual(models.m, { targets: [target('a', { weight: 5 })], fallbacks: [target('c'), target('b')] });
    assert.deepEqual(models.l?.targets, [target('d', { weight: 1 }), target('e', { weight: 2 })]);
    assert.deepEqual([models.o?.fallbacks, models.p?.fallbacks], Array(2).fill([target('e'), target('d')]));
    assert.deepEqual(
      imported.remarks.flatMap(({ place }) => /^model_list\[(\d)\]\.litellm_params\.weight$/.exec(place)?.[1] ?? []),
      ['1', '2', '3', '4'],
    );
  });

  it('state timeouts and retries of their model only if they agree', () => {
    const list =
      deployment('m', 'model: openai/a, timeout: 5, num_retries: 1') +
      deployment('m', 'model: openai/b, timeout: 6, num_retries: 1');
    const imported = convertConfiguration(read(`model_list:\n${list}router_settings: { timeout: 900 }`));
    assert.deepEqual(imported.configuration.models.m, {
      targets: [target('a'), target('b')],
      retries: 1,
      timeouts: { headersMs: 900_000, firstContentMs: 900_000, idleMs: 900_000, totalMs: 900_000 },
    });
    const different = 'belongs to a model here, and its deployments have different ones';
    assert.deepEqual(
      texts(imported).filter((text) => text.endsWith(different)),
      [0, 1].map((index) => `left out: model_list[${index}].litellm_params.timeout: ${different}`),
    );
  });

  it('are fallbacks of others in the order of the list, by the name of the model or by their id', () => {
    const list =
      deployment('a', 'model: openai/a') +
      deployment('b', 'model: openai/b1, order: 2') +
      deployment('b', 'model: openai/b2, order: 1', '{ id: second }') +
      deployment('c', 'model: openai/c');
    const models = modelsOf(
      `model_list:\n${list}router_settings:\n  fallbacks: [{ a: [c, b] }, { c: [second, c] }, { "*": [a] }]`,
    ) as Record<string, { fallbacks: unknown }>;
    assert.deepEqual(models.a?.fallbacks, [target('c'), target('b2'), target('b1')]);
    assert.deepEqual(models.c?.fallbacks, [target('b2')]);
    assert.deepEqual(models.b?.fallbacks, [target('b1'), target('a')]);
  });

  it('have exact prices, whatever the digits of their costs', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000_000 }), fc.integer({ min: -12, max: -6 }), (digits, exponent) => {
        const cost = `${digits}e${exponent}`;
        if (Number(cost) > 1) return;
        const list = deployment('m', `model: openai/a, input_cost_per_token: ${cost}`);
        const [only] = (modelsOf(`model_list:\n${list}`).m as { targets: { price: JsonObject }[] }).targets;
        assert.deepEqual(only?.price, { inputPerMillion: Number(`${digits}e${exponent + 6}`) });
      }),
    );
  });

  it('share a provider if kind, address, key and headers are the same, and get readable names', () => {
    const list =
      deployment('a', 'model: openai/a') +
      deployment('b', 'model: openai/b, api_base: "https://api.openai.com/v1/"') +
      deployment('c', 'model: openai/c, organization: org-1') +
      '  - { model_name: d, litellm_params: { model: openai/d, api_key: sk-written } }\n' +
      '  - { model_name: e, litellm_params: { model: anthropic/e, api_base: "https://proxy.example/v1/messages" } }\n';
    const { configuration, remarks } = convertConfiguration(
      read(`model_list:\n${list}environment_variables: { OPENAI_3_API_KEY: os.environ/OPENAI_3_API_KEY }`),
    );
    assert.deepEqual(configuration.providers, {
      openai: { kind: 'openai-compatible', apiKeyEnv: 'K' },
      'openai-2': { kind: 'openai-compatible', apiKeyEnv: 'K', headers: { 'OpenAI-Organization': 'org-1' } },
      'openai-3': { kind: 'openai-compatible', apiKeyEnv: 'OPENAI_3_API_KEY_2' },
      'anthropic-proxy.example': {
        kind: 'anthropic',
        baseUrl: 'https://proxy.example/v1',
        apiKeyEnv: 'ANTHROPIC_API_KEY',
      },
    });
    assert.ok(
      remarks.some(
        ({ place, text }) =>
          place === 'model_list[3].litellm_params.api_key' &&
          text.endsWith('set the variable OPENAI_3_API_KEY_2 to it'),
      ),
    );
  });

  it('have at most 50,000 targets together', () => {
    const names = Array.from({ length: 300 }, (_, index) => `m${index}`);
    const model_list = names.map((name) => ({ model_name: name, litellm_params: { model: `openai/${name}` } }));
    const { configuration, remarks } = convertConfiguration({
      model_list,
      router_settings: { default_fallbacks: names },
    });
    const { models } = configuration;
    const count = Object.values(models as Record<string, { targets: []; fallbacks?: [] }>).reduce(
      (sum, { targets, fallbacks = [] }) => sum + targets.length + fallbacks.length,
      0,
    );
    assert.ok(count > 49_000 && count <= 50_000, `${count}`);
    assert.ok(remarks.some(({ text }) => text.endsWith('more than 50000 targets')));
  });
});
