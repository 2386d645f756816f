import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { anthropicMessages } from '#gateway/protocols/anthropic-messages/anthropic-messages.ts';
import { openAiChat } from '#gateway/protocols/openai-chat/openai-chat.ts';
import { openAiResponses } from '#gateway/protocols/openai-responses/openai-responses.ts';
import { providerKinds } from '#gateway/providers/provider-kinds.ts';

const root = new URL('../../../', import.meta.url);
const kinds = providerKinds.map(({ kind }) => kind);

function sourcesOf(folder: string): ReadonlyArray<string> {
  const files = readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' });
  return files.filter((file) => file.endsWith('.ts')).map((file) => folder + file);
}

/** The files that have one of these texts. */
function filesWith(texts: ReadonlyArray<string>): ReadonlyArray<string> {
  const files = ['src/gateway/', 'src/http/', 'src/cli/', 'src/app/', 'src/usage/'].flatMap(sourcesOf);
  return files.filter((file) => {
    const source = readFileSync(new URL(file, root), 'utf8');
    return texts.some((text) => source.includes(text));
  });
}

describe('kinds of providers', () => {
  it('are each named in one file', () => {
    for (const kind of kinds.filter((each) => each !== 'sandbox'))
      assert.deepEqual(
        filesWith([`'${kind}'`]).filter((file) => !file.startsWith('src/gateway/providers/')),
        [],
        kind,
      );
  });

  it('are listed in docs/providers.md as they are in the table', () => {
    const row = /\| `providers\.\*\.kind` \| – \| (.*?) \|/.exec(
      readFileSync(new URL('docs/providers.md', root), 'utf8'),
    );
    const named = Array.from(row?.[1]?.matchAll(/`(.*?)`/g) ?? [], ([, kind]) => kind);
    assert.deepEqual(named, kinds);
  });
});

describe('protocols for texts', () => {
  for (const { name } of [openAiChat, openAiResponses, anthropicMessages])
    it(`are each named in their own folder alone: ${name}`, () => {
      const elsewhere = filesWith([`'${name}'`]).filter((file) => !file.startsWith(`src/gateway/protocols/${name}/`));
      assert.deepEqual(elsewhere, []);
    });
});
