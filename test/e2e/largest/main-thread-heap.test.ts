import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Pool } from 'undici';
import { maxTranslatedValues } from '#gateway/protocols/protocol.ts';
import { maxTranslatedBytes } from '#gateway/response/whole-response.ts';
import { expectStatus } from '#test/e2e/support/expect.ts';
import { bytes, completion, FakeProvider, json } from '#test/gateway/support/fake-provider.ts';
import { seededRandom } from '#test/soak/random.ts';
import { long } from '#test/support/run/long.ts';
import { Client, type RawRequest } from '#test/support/service/client.ts';
import { maxInputHeapMb } from '#test/support/service/main-heap.ts';
import {
  adminKey,
  type ServiceProcess,
  startService,
  type TemporaryFolder,
  temporaryFolder,
} from '#test/support/service/service-process.ts';
import { randomText } from './random-values.ts';
import { largestChats, largestMessages, largestResponses, maxGatewayBytes } from './streaming-requests.ts';

/** Of an answer that passes as it comes, and is not compressed. */
const maxAnswerBytes = 64 * 1024 * 1024;
const maxWaitMs = 120_000;
const timeouts = { connectMs: 2_000, headersMs: maxWaitMs, firstContentMs: maxWaitMs, idleMs: maxWaitMs };

const message = (content: ReadonlyArray<object>) => ({
  ...{ id: 'm', type: 'message', role: 'assistant', model: 'x', stop_reason: 'end_turn', content },
  usage: { input_tokens: 1, output_tokens: 1 },
});

/**
 * The service with a third of the bound of its main thread's heap. So the bound is at least three times what one of
 * these needs, with all that the service needs at rest.
 */
describe('a third of the main thread’s heap', function () {
  this.timeout(180_000);
  let folder: TemporaryFolder;
  let provider: FakeProvider;
  let service: ServiceProcess;
  let client: Client;

  before(async () => {
    folder = temporaryFolder();
    provider = await FakeProvider.start();
    const file = join(folder.path, 'gateway.json');
    writeFileSync(file, JSON.stringify(configurationOf(provider)));
    const environment = { GATEWAY_CONFIG: file, PROVIDER_KEY: 'provider-secret' };
    service = await startService({ dataDir: join(folder.path, 'data'), environment, maxHeapMb: maxInputHeapMb });
    const limits = { headersTimeout: maxWaitMs, bodyTimeout: maxWaitMs };
    client = new Client(new Pool(service.url, limits), adminKey);
  });

  after(async () => {
    await client?.close();
    await service?.kill();
    await provider?.stop();
    folder.remove();
  });

  afterEach(() => assert.equal(service.stdout + service.stderr, ''));

  const expectAnswer = async (request: RawRequest) => {
    expectStatus(await client.send(request), 200);
  };

  const bodies: Readonly<Record<string, () => RawRequest>> = {
    'chat with the most values': () => largestChats.values?.(seededRandom(1)) ?? assert.fail(),
    'chat in Anthropic’s protocol': () => askOf('/v1/chat/completions', 'claude', smallMessages()),
    'call of Messages in OpenAI’s protocol': () => askOf('/v1/messages', 'gpt', smallMessages()),
    'call of Messages with long texts': () => largestMessages['many texts'](seededRandom(1), '/v1/messages'),
    'call of Responses in Anthropic’s protocol': () => askOf('/v1/responses', 'claude', smallMessages()),
    'call of Responses with long texts': () => largestResponses.items(seededRandom(1)),
  };
  for (const [what, make] of Object.entries(bodies))
    it(`is enough for the largest ${what}${markOf(what.startsWith('call of Responses in'))}`, async () => {
      provider.answers((res, seen) =>
        json(seen.path.endsWith('/messages') ? message([{ type: 'text', text: 'Hello' }]) : completion('Hello'))(
          res,
          seen,
        ),
      );
      await expectAnswer(make());
    });

  const hello = '[{"role":"user","content":"Hello"}]';
  for (const path of ['/v1/chat/completions', '/v1/messages', '/v1/responses']) {
    it(`is enough for the largest answer of one text, asked at ${path} ${long}`, async () => {
      provider.answers(
        bytes(JSON.stringify(completion(longText(maxBytesAt(path, 'openai-chat')))), {
          'content-type': 'application/json',
        }),
      );
      await expectAnswer(askOf(path, 'gpt', hello));
    });

    const isSample = path === '/v1/chat/completions';
    it(`is enough for the largest answer of one call of a tool, asked at ${path}${markOf(isSample)}`, async () => {
      const call = {
        type: 'tool_use',
        id: 't',
        name: 'n',
        input: { text: longText(maxBytesAt(path, 'anthropic-messages')) },
      };
      provider.answers(bytes(JSON.stringify(message([call])), { 'content-type': 'application/json' }));
      await expectAnswer(askOf(path, 'claude', hello));
    });
  }
});

/** The largest answer in a provider's protocol, which is translated unless the path has the same one. */
function maxBytesAt(path: string, protocol: 'openai-chat' | 'anthropic-messages'): number {
  const isSame = path === (protocol === 'openai-chat' ? '/v1/chat/completions' : '/v1/messages');
  return isSame ? maxAnswerBytes : maxTranslatedBytes;
}

/** Each of these takes seconds of both cores, so `npm test` runs two of them. */
function markOf(isSample: boolean): string {
  return isSample ? '' : ` ${long}`;
}

function configurationOf(provider: FakeProvider): object {
  const baseUrl = new URL(provider.baseUrl).origin;
  const modelOf = (name: string) => ({ targets: [{ provider: name, model: 'x' }], retries: 0 });
  return {
    providers: {
      openai: { kind: 'openai-compatible', baseUrl: provider.baseUrl, timeouts },
      anthropic: { kind: 'anthropic', baseUrl, apiKeyEnv: 'PROVIDER_KEY', timeouts },
      sandbox: { kind: 'sandbox' },
    },
    models: { gpt: modelOf('openai'), claude: modelOf('anthropic'), sandbox: modelOf('sandbox') },
  };
}

/** @param messages a list of JSON */
function askOf(path: string, model: string, messages: string): RawRequest {
  const more = path.endsWith('/responses') ? `"input":${messages}` : `"max_tokens":10,"messages":${messages}`;
  const headers = { 'content-type': 'application/json' };
  return { method: 'POST', path, headers, body: `{"model":"${model}",${more}}` };
}

/** As many messages as are translated, of as many bytes as a body may have. */
function smallMessages(): string {
  const valuesOfMessage = 3;
  const count = Math.floor((0.97 * maxTranslatedValues) / valuesOfMessage);
  const text = randomText(seededRandom(1), (0.95 * maxGatewayBytes) / count - 40);
  return `[${Array.from({ length: count }, () => JSON.stringify({ role: 'user', content: text })).join(',')}]`;
}

/** A text that has nearly this many bytes as JSON. */
function longText(maxBytes: number): string {
  // One character of four bytes makes all the others take two.
  const text = `${'x'.repeat(4_000)}\u{1f4de}`;
  return text.repeat(Math.floor((0.97 * maxBytes) / Buffer.byteLength(JSON.stringify(text))));
}
