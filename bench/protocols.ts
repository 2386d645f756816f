import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Checkout, here } from '#bench/beside/checkout.ts';
import type { Figure, MeasureVersion } from '#bench/beside/compare.ts';
import { chat } from './gateway-processes/chats.ts';
import { startSwitchyard } from './gateway-processes/contestants.ts';
import { reserveCore } from './gateway-processes/cores.ts';
import { processorMs } from './gateway-processes/processor-time.ts';
import type { StreamLoad, StreamLoadResult } from './gateway-processes/stream-load.ts';
import type { Load } from './http-processes/load.ts';
import { adminKey, runScript, type ServiceServer, sendLoad, startPrintingPort } from './http-processes/processes.ts';
import { format, interleaved, print, printResults, type Result } from './measure.ts';

const rounds = 5;
const seconds = 3;
/** In a comparison with another commit, which has more rounds. */
const secondsBeside = 1;
const { messages, model: _, ...settings } = chat;
const [system, ...asked] = messages;

/** A pair of the client's and the target's protocol, as a request. */
interface Pair {
  readonly name: string;
  readonly path: string;
  readonly body: object;
}

const chatOf = (model: string) => ({ path: '/v1/chat/completions', body: { ...settings, model, messages } });
const messageOf = (model: string) => ({
  path: '/v1/messages',
  body: { ...settings, model, max_tokens: 500, system: system?.content, messages: asked },
});

const responseOf = (model: string, store: boolean) => ({
  path: '/v1/responses',
  body: { ...settings, model, instructions: system?.content, input: asked, store },
});

const chatToChat: Pair = { name: 'chat to chat', ...chatOf('bench-model') };
const messagesToMessages: Pair = { name: 'Messages to Messages', ...messageOf('claude') };
const translated: ReadonlyArray<Pair> = [
  { name: 'chat to Messages', ...chatOf('claude') },
  { name: 'Messages to chat', ...messageOf('bench-model') },
];
const responsesToResponses: Pair = { name: 'Responses to Responses', ...responseOf('responses', false) };
const stored: ReadonlyArray<Pair> = [
  { name: 'Responses to Responses, stored', ...responseOf('responses', true) },
  { name: 'Responses to chat, stored', ...responseOf('bench-model', true) },
];
const pairs: ReadonlyArray<Pair> = [chatToChat, messagesToMessages, ...translated, responsesToResponses, ...stored];

type Way = 'whole' | 'streamed';

/**
 * `npm run bench -- protocols`: the processor time of a call, whole and as a stream of 200 events, for each pair of the
 * client's and the target's protocol, against a chat that passes as it comes. The time of the thread that stores
 * responses counts.
 */
export default async function protocols(): Promise<void> {
  await withGateway(here, async (switchyard) => {
    print('processor time of a call');
    printResults([...(await compare(switchyard, 'whole', 1.5)), ...(await compare(switchyard, 'streamed', 2.5))]);
  });
}

/** `npm run bench -- protocols --beside COMMIT`: the same of two versions in turns. */
export const beside = (): MeasureVersion => async (checkout) => {
  const figures: Figure[] = [];
  await withGateway(checkout, async (switchyard) => {
    for (const way of ['whole', 'streamed'] as const)
      for (const pair of pairs) {
        const value = await measureOf(way)(switchyard, pair, secondsBeside);
        figures.push({ what: `${pair.name}, ${way}`, value, unit: ' µs' });
      }
  });
  return figures;
};

async function withGateway(checkout: Checkout, measure: (switchyard: ServiceServer) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-bench-protocols-'));
  const upstream = await startPrintingPort(join(import.meta.dirname, 'gateway-processes/upstream.ts'));
  const giveOwnCore = reserveCore();
  const provider = { baseUrl: `${upstream.url}/v1`, apiKeyEnv: 'PROVIDER_KEY' };
  const price = { inputPerMillion: 3 };
  const switchyard = await startSwitchyard(
    folder,
    upstream.url,
    checkout,
    {},
    {
      providers: {
        anthropic: { kind: 'anthropic', ...provider },
        openai: { kind: 'openai-compatible', responses: true, ...provider },
      },
      models: {
        claude: { targets: [{ provider: 'anthropic', model: 'claude' }], price },
        responses: { targets: [{ provider: 'openai', model: 'gpt' }], price },
      },
    },
  );
  giveOwnCore(switchyard.pid);
  try {
    await measure(switchyard);
  } finally {
    await switchyard.stop();
    await upstream.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function measureOf(way: Way): typeof processorOfWhole {
  return way === 'whole' ? processorOfWhole : processorOfStream;
}

async function compare(switchyard: ServiceServer, way: Way, most: number): Promise<ReadonlyArray<Result>> {
  const measure = measureOf(way);
  const contestants = pairs.map((pair) => ({ name: pair.name, round: () => measure(switchyard, pair, seconds) }));
  const figures = await interleaved(contestants, rounds);
  for (const [name, figure] of figures) print(`${name}, ${way}: ${format(figure)} µs`);
  const ofChat = ({ name }: Pair) => (figures.get(name) ?? Number.NaN) / (figures.get(chatToChat.name) ?? Number.NaN);
  const result = (pair: Pair, required: number) => ({
    what: `${pair.name}, ${way}, of chat to chat`,
    figure: ofChat(pair),
    unit: ' ×',
    required,
    aim: 1,
  });
  const asItComes = [messagesToMessages, responsesToResponses];
  return [
    ...asItComes.map((pair) => result(pair, 1.1)),
    ...[...translated, ...stored].map((pair) => result(pair, most)),
  ];
}

const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' };

async function processorOfWhole({ url, pid }: ServiceServer, { path, body }: Pair, duration: number): Promise<number> {
  const load: Load = {
    url,
    method: 'POST',
    paths: [path],
    headers,
    body: JSON.stringify(body),
    connections: 64,
    seconds: duration,
  };
  const before = processorMs(pid);
  const { perSecond } = await sendLoad(load);
  return ((processorMs(pid) - before) * 1_000) / (perSecond * duration);
}

async function processorOfStream({ url, pid }: ServiceServer, { path, body }: Pair, duration: number): Promise<number> {
  const load: StreamLoad = {
    url: url + path,
    headers,
    body: JSON.stringify({ ...body, stream: true }),
    connections: 64,
    seconds: duration,
  };
  const before = processorMs(pid);
  const script = join(import.meta.dirname, 'gateway-processes/stream-load.ts');
  const { streams, failed, firstFailure } = await runScript<StreamLoadResult>(script, load);
  if (failed > 0) throw new Error(`${failed} streams failed, the first: ${firstFailure}`);
  return ((processorMs(pid) - before) * 1_000) / streams;
}
