import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pacing } from './pacing.ts';
import { microseconds } from './pacing.ts';

/** The gateway of the call, and the upstream behind it. */
export interface Left {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly upstreamUrl: string;
  /** The body of a chat, without user and pacing. */
  readonly chat: object;
}

const limitMs = 10_000;

/**
 * Begins a chat, disconnects, and measures when the upstream's connection closes.
 * @param when before the headers, or after the first content
 * @returns the milliseconds from the disconnection
 * @throws Error when the upstream's connection does not close within ten seconds
 */
export async function leave(
  { url, headers, upstreamUrl, chat }: Left,
  when: 'before-headers' | 'mid-stream',
): Promise<number> {
  const user = `user-${Math.random().toString(36).slice(2)}`;
  const ending = when === 'before-headers' ? 'silence' : 'stall';
  const pacing: Pacing = { firstMs: 0, gapMs: 0, events: 1, ending };
  const { promise: content, resolve } = Promise.withResolvers<void>();
  const req = request(`${url}/v1/chat/completions`, {
    method: 'POST',
    agent: false,
    headers: { ...headers, 'content-type': 'application/json' },
  });
  req.on('response', (res) => {
    res.on('data', () => resolve());
    res.on('error', () => undefined);
  });
  req.on('error', () => undefined);
  req.end(JSON.stringify({ ...chat, stream: true, user, pacing }));
  const met = async () =>
    (await (await fetch(`${upstreamUrl}/met/${user}`)).json()) as { closedAt: number | null } | null;
  await until(async () => (await met()) !== null, 'reached the upstream');
  if (when === 'mid-stream') await content;
  const leftAt = microseconds();
  req.destroy();
  let closedAt: number | null = null;
  await until(async () => {
    closedAt = (await met())?.closedAt ?? null;
    return closedAt !== null;
  }, 'left the upstream');
  return ((closedAt ?? Number.NaN) - leftAt) / 1_000;
}

async function until(holds: () => Promise<boolean>, what: string): Promise<void> {
  const end = performance.now() + limitMs;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`A chat has not ${what} in ${limitMs / 1_000} s`);
    await sleep(2);
  }
}
