import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { LineSink } from './export-log.ts';

/** A stream that an export goes to: it holds nothing, and waits where whoever reads it is slow. */
export function streamSink(stream: Writable): LineSink {
  return {
    begun: false,
    held: async () => null,
    write: async (lines) => {
      if (!stream.write(lines)) await once(stream, 'drain');
    },
  };
}
