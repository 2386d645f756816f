import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Server } from '#bench/http-processes/processes.ts';
import { makeManyFlows } from './many-flows.ts';
import { besideOtherTenant } from './other-tenant.ts';
import { repeat } from './project-key.ts';
import { startProvider } from './provider.ts';

const calls = 120;
const inFlight = 12;
const levels = 200_000;
const values = 5_000_000;
/** Nearly as many as an event may have. */
const eventValues = 190_000;
const eventsOfStream = 20;
const endlessPieces = 1_000;

const message = { role: 'user', content: 'Hello' };
const finish = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
const choice = '"choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]';
const event = (more: string) => `data: {"choices":[{"index":0,"delta":{"content":"a"}}]${more}}\n\n`;

/** A call, and how the provider answers it. */
interface HostileAnswer {
  readonly path: string;
  readonly body: object;
  readonly isStream: boolean;
  /** The pieces of the answer, each of which may be sent often. */
  readonly pieces: ReadonlyArray<{ readonly text: string; readonly times: number }>;
}

function chat(isStream: boolean, ...pieces: HostileAnswer['pieces']): HostileAnswer {
  return { path: '/v1/chat/completions', body: { messages: [message], stream: isStream }, isStream, pieces };
}

const single = (text: string) => ({ text, times: 1 });

const answers: Readonly<Record<string, HostileAnswer>> = {
  levels: chat(false, single(`{${choice},"x":${'['.repeat(levels)}${']'.repeat(levels)}}`)),
  values: chat(
    false,
    single(`{${choice},"x":[`),
    { text: '{},'.repeat(10_000), times: values / 10_000 },
    single('1]}'),
  ),
  events: chat(true, { text: event(`,"x":[${'{},'.repeat(eventValues)}1]`), times: eventsOfStream }, single(finish)),
  tiny: chat(true, { text: event('').repeat(1_000), times: 100 }, single(finish)),
  lines: chat(true, { text: `${'x\n'.repeat(500_000)}\r\n`, times: 5 }, single(finish)),
  endless: {
    path: '/v1/responses',
    body: { input: 'Hello', stream: true },
    isStream: true,
    pieces: [{ text: event('').replace('"a"', JSON.stringify('x'.repeat(60_000))), times: endlessPieces }],
  },
};

const names = Object.keys(answers);

/** Answers of a provider that are deep, have millions of values, never end, or come as large or tiny events. */
export default besideOtherTenant({
  title: `${calls} answers of a hostile provider`,
  maxFreezeMs: 100,
  maxSlowdown: 3,
  // The name of the model is that of the answer.
  surround: () => startProvider({ models: names, speaksResponses: false }, (model, to) => send(to, answers[model])),
  prepare: makeManyFlows,
  attack: (service, { key }) =>
    repeat(calls, inFlight, (number) => ask(service, key, names[number % names.length] ?? '')),
});

async function send(response: ServerResponse, answer: HostileAnswer | undefined): Promise<void> {
  if (answer === undefined) return void response.writeHead(404).end();
  response.writeHead(200, { 'content-type': answer.isStream ? 'text/event-stream' : 'application/json' });
  const closed = once(response, 'close');
  for (const { text, times } of answer.pieces) {
    for (let sent = 0; sent < times && !response.destroyed; sent += 1) {
      if (!response.write(text)) await Promise.race([once(response, 'drain'), closed]);
    }
  }
  response.end();
}

async function ask({ url }: Server, key: string, model: string): Promise<void> {
  const { path, body } = answers[model] as HostileAnswer;
  const answer = await fetch(url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, ...body }),
  });
  await answer.arrayBuffer();
  // 429 where the answers of its project have no more room.
  if (![200, 429, 502].includes(answer.status)) throw new Error(`${model} was answered with ${answer.status}`);
}
