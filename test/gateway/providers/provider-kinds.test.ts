import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import * as E from 'fp-ts/lib/Either.js';
import { anthropicMessages } from '#gateway/protocols/anthropic-messages/anthropic-messages.ts';
import { openAiChat } from '#gateway/protocols/openai-chat/openai-chat.ts';
import { openAiResponses } from '#gateway/protocols/openai-responses/openai-responses.ts';
import type { ProviderRequest, UnsupportedRequest } from '#gateway/providers/provider.ts';
import {
  ConfiguredProvider,
  openProvider,
  type ProviderConfiguration,
  providerKinds,
} from '#gateway/providers/provider-kinds.ts';
import type { UpstreamRequest } from '#gateway/transport/transport.ts';

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

/** It has names of LiteLLM, some of which are also names of kinds. */
const foreignNames = 'src/cli/gateway/litellm/provider-prefixes.ts';

describe('kinds of providers', () => {
  it('are each named in one file', () => {
    for (const kind of kinds.filter((each) => each !== 'sandbox'))
      assert.deepEqual(
        filesWith([`'${kind}'`]).filter((file) => !file.startsWith('src/gateway/providers/') && file !== foreignNames),
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

describe('addresses of kinds of providers', () => {
  it('are in docs/providers.md with what is appended', () => {
    const rows = providerKinds.map(({ kind, address }) => {
      if (address === null) return `| \`${kind}\` | none: no provider is called | – |`;
      return `| \`${kind}\` | \`${address.baseUrl}\` | ${address.paths.map((path) => `\`${path}\``).join(', ')} |`;
    });
    const head = '| Kind | Base URL without `baseUrl` | What the gateway appends |\n|---|---|---|';
    assert.ok(readFileSync(new URL('docs/providers.md', root), 'utf8').includes(`\n${[head, ...rows].join('\n')}\n\n`));
  });

  for (const { kind, address } of providerKinds)
    it(`name paths that the gateway asks for: ${kind}`, async () => {
      if (address === null) return;
      const base = new URL(address.baseUrl).pathname;
      const asked = await pathsAskedOf(kind);
      for (const path of address.paths) assert.ok(asked.includes(base + path), `${path} is not in ${asked}`);
    });
});

/** The paths, without their queries, of a request for each text, speech, transcription and whole relay. */
async function pathsAskedOf(kind: ProviderConfiguration['kind']): Promise<ReadonlyArray<string>> {
  const decoded = ConfiguredProvider.decode({ kind });
  if (E.isLeft(decoded)) return assert.fail(`${kind} needs settings`);
  const provider = openProvider({ name: 'it', configuration: decoded.right, apiKey: null, onFault: () => {} });
  const common = { query: '', body: Buffer.alloc(0), streams: false, forwarded: [], model: 'm' };
  const fields = { input: 'x', responseFormat: null, speed: null, streamFormat: null, others: () => ({}) };
  const asked = [
    ...(provider.protocols ?? []).map((protocol) => provider.text?.({ ...common, path: protocol.path(common) })),
    ...(provider.wholePaths ?? []).map((path) => provider.whole?.({ ...common, path }).request),
    requestOf(provider.speech?.({ ...common, voice: '…', fields })),
    requestOf(
      provider.transcription?.({
        ...common,
        contentType: 'multipart/form-data',
        fields: [],
        fileBytes: 0,
        body: noFile,
        around: () => noFile,
      }),
    ),
  ];
  await provider.transport.close();
  return asked.flatMap((request) => decodeURIComponent(request?.path.split('?')[0] ?? ''));
}

const noFile = { bytes: 0, open: () => Readable.from([]) };

function requestOf(asked: ProviderRequest | UnsupportedRequest | undefined): UpstreamRequest | undefined {
  return asked !== undefined && 'request' in asked ? asked.request : undefined;
}

describe('protocols for texts', () => {
  for (const { name } of [openAiChat, openAiResponses, anthropicMessages])
    it(`are each named in their own folder alone: ${name}`, () => {
      const elsewhere = filesWith([`'${name}'`]).filter((file) => !file.startsWith(`src/gateway/protocols/${name}/`));
      assert.deepEqual(elsewhere, []);
    });
});
