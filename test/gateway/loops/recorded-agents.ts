import { Recordings } from '#test/support/recordings/player.ts';
import type { Begin, LoopClient, LoopOptions } from './loop-client.ts';

/** Begins conversations as the SDKs have begun them. */
export function recordedAgents(suite: string): Begin {
  const recordings = new Recordings(suite);
  return (client, options) => {
    const player = recordings.play(conversationName(client, options));
    return () => player.step(options.url);
  };
}

export function conversationName({ name }: LoopClient, { model, isStreamed }: LoopOptions): string {
  return `${name} at ${model}, ${isStreamed ? 'streamed' : 'whole'}`;
}
