import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { chatEvent, obfuscation } from './chat-events.ts';
import { microseconds, type Pacing } from './pacing.ts';

/**
 * The provider behind every measured gateway: whole and streamed chats, and transcriptions. `GET /met/{user}` returns
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
  req.on('end', () => chat(chunks.length === 1 ? String(chunks[0]) : String(Buffer.concat(chunks)), receivedAt, res));
});

function chat(body: string, receivedAt: number, res: ServerResponse): void {
  if (!body.includes('"stream":true')) {
    res.writeHead(200, wholeHeaders).end(whole);
    return;
  }
  const { pacing, user } = JSON.parse(body) as { readonly pacing: Pacing; readonly user?: string };
  if (user !== undefined) meet(user, res);
  if (pacing.ending !== 'silence') void stream(pacing, receivedAt, res);
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
