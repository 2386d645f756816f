import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { LineSink } from './export-log.ts';

/** A sink that holds nothing, and waits for a slow reader. */
export function streamSink(stream: Writable): LineSink {
  return {
    begun: false,
    held: async () => null,
    write: async (lines) => {
      if (!stream.write(lines)) await once(stream, 'drain');
    },
  };
}
