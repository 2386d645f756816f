import type { MessagePort } from 'node:worker_threads';
import type { PageMessage, SharedPage } from './page-port.ts';

/** Reports stored events soon after they are stored. It may miss some, and may report one twice. */
export interface WakeUpSource {
  /** How often the end of the log is asked for besides. */
  readonly askEveryMs: number;
  /**
   * Starts to report.
   * @param onStored gets the position of an event that was stored, and the page that holds it where it was read already
   * @returns ends it
   */
  readonly start: (onStored: (position: number, page?: SharedPage) => void) => () => void;
  /** Ends it for good. */
  readonly close: () => void;
}

/** The thread at the other end of the port asks more often, and sends what it reads. */
const askEveryMs = 1_000;

/** Wake-ups from a `LogReader` in another thread, with what it read. @param port of its `wakePort`; closed with the source */
export function wakeUpsByPort(port: MessagePort): WakeUpSource {
  let listener: ((position: number, page: SharedPage) => void) | null = null;
  port.on('message', (message: PageMessage) => {
    if (message.kind !== 'page') return;
    port.postMessage({ kind: 'acknowledged' } satisfies PageMessage);
    listener?.(message.page.position, message.page);
  });
  return {
    askEveryMs,
    start(onStored) {
      listener = onStored;
      return () => {
        listener = null;
      };
    },
    close: () => port.close(),
  };
}
