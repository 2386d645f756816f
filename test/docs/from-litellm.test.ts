import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import * as E from 'fp-ts/lib/Either.js';
import { convertConfiguration } from '#cli/gateway/litellm/convert-configuration.ts';
import { providerPrefixes, providersWithoutKind } from '#cli/gateway/litellm/provider-prefixes.ts';
import { parseYaml } from '#cli/gateway/litellm/read-yaml.ts';
import { type KnownSettings, knownSettings } from '#cli/gateway/litellm/settings.ts';
import { isObject } from '#shared/json/json.ts';

const guide = readFileSync(new URL('../../docs/from-litellm.md', import.meta.url), 'utf8');

const blocks = Array.from(guide.matchAll(/^```(\w*)\n(.*?)^```$/gms), ([, language = '', text = '']) => ({
  language,
  text,
}));
const blockOf = (language: string) => blocks.find((block) => block.language === language)?.text ?? '';

/** Places by their section, which is written once. */
function shownPlaces(places: ReadonlyArray<string>): string {
  const bySection = Map.groupBy(places, (place) => place.replace(/\.?[^.]*$/, ''));
  return Array.from(bySection, ([section, all]) => {
    const names = all.map((place) => `\`${section === '' ? place : place.slice(section.length + 1)}\``).join(', ');
    return section === '' ? names : `\`${section}\`: ${names}`;
  }).join('; ');
}

function table(head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string {
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return lines.join('\n').replace('| --- | --- |', '|---|---|').replace('|---|---| --- |', '|---|---|---|');
}

function providersTable(): string {
  const rows = providerPrefixes.map(({ prefix, baseUrl, keys, page }) => [
    `\`${prefix}/\``,
    baseUrl === undefined ? '`api_base`' : baseUrl === null ? "[the kind's own](PAGE)" : `[\`${baseUrl}\`](PAGE)`,
    keys.length === 0 ? 'none' : keys.map((key) => `\`${key}\``).join(', else '),
    page,
  ]);
  return table(
    ['LiteLLM', 'Base URL', 'Key without `api_key`'],
    rows.map(([prefix = '', url = '', key = '', page = '']) => [
      prefix,
      url.includes('PAGE') ? url.replace('PAGE', page) : `${url}, see [its page](${page})`,
      key,
    ]),
  );
}

function settingsTable(kind: KnownSettings['kind'], head: ReadonlyArray<string>): string {
  const ofKind = knownSettings.filter((each) => each.kind === kind);
  return table(
    head,
    ofKind.map(({ places, text }) => [shownPlaces(places), text]),
  );
}

const tables = [
  providersTable(),
  settingsTable('converted', ['LiteLLM', 'Switchyard']),
  settingsTable('needless', ['LiteLLM', 'Why nothing is set']),
  settingsTable('absent', ['LiteLLM', 'Why it is left out']),
];

describe('docs/from-litellm.md', () => {
  it('has the tables of the import', () => {
    for (const each of tables) assert.ok(guide.includes(`\n\n${each}\n\n`), `the guide must have this table:\n${each}`);
    for (const prefix of providersWithoutKind) assert.ok(guide.includes(`\`${prefix}\``), prefix);
  });

  it('shows what the import makes of its example', () => {
    const read = parseYaml(blockOf('yaml'));
    if (E.isLeft(read) || !isObject(read.right)) return assert.fail(JSON.stringify(read));
    const { configuration, remarks } = convertConfiguration(read.right);
    const lines = remarks.map(({ kind, place, text }) => `${kind}: ${place}: ${text}\n`).join('');
    assert.equal(blockOf(''), lines);
    assert.deepEqual(JSON.parse(blockOf('json')), configuration);
  });
});
