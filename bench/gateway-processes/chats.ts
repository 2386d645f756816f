import { join } from 'node:path';
import type { Load } from '#bench/http-processes/load.ts';
import { runScript } from '#bench/http-processes/processes.ts';
import type { Way } from './contestants.ts';
import type { Pacing } from './pacing.ts';
import type { StreamLoad, StreamLoadResult } from './stream-load.ts';

const seconds = 3;

/** The request of every measured chat. */
export const chat = {
  model: 'bench-model',
  messages: [
    { role: 'system', content: 'You answer calls for a small museum. Be short and friendly.' },
    { role: 'user', content: 'When are you open, and is there a discount for families with three children?' },
  ],
  temperature: 0.2,
};

/** The pace of a stream that is alone. */
export const oneStream: Pacing = { firstMs: 5, gapMs: 2, events: 4, ending: 'end' };

/** The pace of each of many streams. */
export const manyStreams: Pacing = { firstMs: 20, gapMs: 20, events: 20, ending: 'end' };

/** Streams whose events come all together. */
export const burst: Pacing = { firstMs: 0, gapMs: 0, events: 200, ending: 'end' };

/** Returns the load of chats on a way, 64 at the same time for three seconds. */
export function chatLoad(way: Way): Load {
  return {
    url: way.url,
    method: 'POST',
    paths: ['/v1/chat/completions'],
    headers: { ...way.headers, 'content-type': 'application/json' },
    body: JSON.stringify(chat),
    connections: 64,
    seconds,
  };
}

/** The same of responses, which are stored. */
export function responseLoad(way: Way): Load {
  const { messages, ...others } = chat;
  const body = JSON.stringify({ ...others, input: messages });
  return { ...chatLoad(way), paths: ['/v1/responses'], body };
}

/** Sends streams from a separate process. @throws Error when one of them fails */
export async function sendStreams(
  way: Way,
  connections: number,
  pacing: Pacing,
  duration = seconds,
): Promise<StreamLoadResult> {
  const load: StreamLoad = {
    url: `${way.url}/v1/chat/completions`,
    headers: way.headers,
    body: JSON.stringify({ ...chat, stream: true, pacing }),
    connections,
    seconds: duration,
  };
  const result = await runScript<StreamLoadResult>(join(import.meta.dirname, 'stream-load.ts'), load);
  if (result.failed > 0) throw new Error(`${result.failed} streams failed, the first: ${result.firstFailure}`);
  return result;
}
