import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { chatEvent, obfuscation } from './chat-events.ts';
import { microseconds, type Pacing } from './pacing.ts';

/**
 * The provider behind every measured gateway: whole and streamed chats, Messages and Responses, and transcriptions. `GET /met/{user}` returns
 * the times when the chat of a user arrived and when its connection closed before the end of the answer. Prints its
 * port.
 */

const whole = JSON.stringify({
  id: 'chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG',
  object: 'chat.completion',
  created: 1_741_570_283,
  model: 'gpt-large-2026-01-01',
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: 'The opening hours are from nine to five on weekdays, and from ten to two on Saturdays. '.repeat(4),
        refusal: null,
        annotations: [],
      },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
  usage: { prompt_tokens: 37, completion_tokens: 86, total_tokens: 123 },
  service_tier: 'default',
});
const wholeHeaders = ['Content-Type', 'application/json', 'Content-Length', String(Buffer.byteLength(whole))];

const message = {
  ...{ id: 'msg_01XFDUDYJgAACzvnptvVoYEL', type: 'message', role: 'assistant', model: 'claude-2026-01-01' },
  ...{ content: [], stop_reason: null, stop_sequence: null },
  usage: { input_tokens: 37, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 86 },
};
const said = 'The opening hours are from nine to five on weekdays, and from ten to two on Saturdays. '.repeat(4);
const wholeMessage = JSON.stringify({ ...message, content: [{ type: 'text', text: said }], stop_reason: 'end_turn' });
const frame = (event: { readonly type: string }) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
const messageDelta = (text: string) => {
  const event = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } };
  return frame(event);
};
const block = { type: 'text', text: '' };
const start = { type: 'content_block_start', index: 0, content_block: block };
const messageBeginning = frame(Object.assign({ type: 'message_start' }, { message })) + frame(start);
const someMessageWords = messageDelta(' hours');
const stopped = {
  type: 'message_delta',
  delta: { stop_reason: 'end_turn', stop_sequence: null },
  usage: { output_tokens: 86 },
};
const messageEnd = frame({ type: 'content_block_stop' }) + frame(stopped) + frame({ type: 'message_stop' });

/** Each response has an id of its own, because a stored one keeps it. */
let responses = 0;
const nextResponse = () => {
  responses += 1;
  return `resp_${responses}`;
};
const responseOf = (status: string, texts: ReadonlyArray<string>) => ({
  ...{ id: nextResponse(), object: 'response', created_at: 1_741_570_283, status, error: null },
  ...{ incomplete_details: null, instructions: null, model: 'gpt-large-2026-01-01', parallel_tool_calls: true },
  output: texts.map((text) => ({
    ...{ id: `msg_${responses}`, type: 'message', status, role: 'assistant' },
    content: [{ type: 'output_text', annotations: [], logprobs: [], text }],
  })),
  ...{ previous_response_id: null, store: false, temperature: 1, tool_choice: 'auto', tools: [], top_p: 1 },
  usage: { input_tokens: 37, output_tokens: 86, total_tokens: 123 },
});
const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
const textDelta = (delta: string, number: number) =>
  frame({ type: 'response.output_text.delta', sequence_number: number, ...place, delta, logprobs: [] } as never);
const someResponseWords = Array.from({ length: 200 }, (_, index) => textDelta(' hours', index + 3));

interface Met {
  readonly at: number;
  closedAt: number | null;
}

const met = new Map<string, Met>();

const server = createServer((req, res) => {
  const { method = '', url = '' } = req;
  if (method === 'GET') return respond(res, met.get(url.slice('/met/'.length)) ?? null);
  if (url.endsWith('/audio/transcriptions')) return transcribe(req, res);
  const receivedAt = microseconds();
  const chunks: Buffer[] = [];
  req.on('data', (chunk: Buffer) => chunks.push(chunk));
  const answer = url.includes('/messages') ? answerMessage : url.includes('/responses') ? answerResponse : chat;
  req.on('end', () => answer(chunks.length === 1 ? String(chunks[0]) : String(Buffer.concat(chunks)), receivedAt, res));
});

function chat(body: string, receivedAt: number, res: ServerResponse): void {
  if (!body.includes('"stream":true')) {
    res.writeHead(200, wholeHeaders).end(whole);
    return;
  }
  const { pacing = burst, user } = JSON.parse(body) as { readonly pacing?: Pacing; readonly user?: string };
  if (user !== undefined) meet(user, res);
  if (pacing.ending !== 'silence') void stream(pacing, receivedAt, res);
}

/** A translated request has no pacing. */
const burst: Pacing = { firstMs: 0, gapMs: 0, events: 200, ending: 'end' };

function answerMessage(body: string, receivedAt: number, res: ServerResponse): void {
  if (!body.includes('"stream":true')) {
    res.writeHead(200, ['Content-Type', 'application/json']).end(wholeMessage);
    return;
  }
  res.writeHead(200, ['Content-Type', 'text/event-stream']);
  res.write(messageBeginning);
  res.write(messageDelta(`${receivedAt} ${microseconds()}`));
  for (let sent = 1; sent < burst.events; sent += 1) res.write(someMessageWords);
  res.end(messageEnd);
}

function answerResponse(body: string, receivedAt: number, res: ServerResponse): void {
  if (!body.includes('"stream":true')) {
    res.writeHead(200, ['Content-Type', 'application/json']).end(JSON.stringify(responseOf('completed', [said])));
    return;
  }
  res.writeHead(200, ['Content-Type', 'text/event-stream']);
  const begun = { type: 'response.created', sequence_number: 0, response: responseOf('in_progress', []) };
  res.write(frame(begun));
  res.write(textDelta(`${receivedAt} ${microseconds()}`, 2));
  for (let sent = 1; sent < burst.events; sent += 1) res.write(someResponseWords[sent]);
  const response = { ...responseOf('completed', [' hours'.repeat(burst.events)]), id: begun.response.id };
  const ended = { type: 'response.completed', sequence_number: burst.events + 3, response };
  res.end(frame(ended));
}

function meet(user: string, res: ServerResponse): void {
  const meeting: Met = { at: microseconds(), closedAt: null };
  met.set(user, meeting);
  res.once('close', () => {
    if (!res.writableFinished) meeting.closedAt = microseconds();
  });
}

/** Streams events one by one. The first content contains the time of the request's arrival and the time of sending. */
async function stream(
  { firstMs, gapMs, events, ending }: Pacing,
  receivedAt: number,
  res: ServerResponse,
): Promise<void> {
  res.writeHead(200, ['Content-Type', 'text/event-stream']);
  res.write(event({ role: 'assistant', content: '' }));
  if (firstMs > 0) await sleep(firstMs);
  res.write(event({ content: `${receivedAt} ${microseconds()}` }));
  for (let sent = 1; sent < events; sent += 1) {
    if (gapMs > 0) await sleep(gapMs);
    if (res.destroyed) return;
    res.write(someWords[sent % someWords.length]);
  }
  if (ending === 'end') res.end(theEnd);
}

function event(delta: object, finishReason: string | null = null): string {
  return `data: ${chatEvent(delta, finishReason, { obfuscation: obfuscation() })}\n\n`;
}

/** Made once, because the upstream shares the machine with the measured gateways. */
const someWords = Array.from({ length: 256 }, () => event({ content: ' hours' }));
const theEnd = `${event({}, 'stop')}data: [DONE]\n\n`;

function transcribe(req: IncomingMessage, res: ServerResponse): void {
  let bytes = 0;
  req.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  req.on('end', () => respond(res, { text: `${bytes} bytes` }));
}

function respond(res: ServerResponse, value: unknown): void {
  res.writeHead(200, ['Content-Type', 'application/json']).end(JSON.stringify(value));
}

server.listen(0, '127.0.0.1', 2_048, () => process.stdout.write(String((server.address() as AddressInfo).port)));
