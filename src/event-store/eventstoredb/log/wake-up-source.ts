import type { MessagePort } from 'node:worker_threads';
import type { PageMessage, SharedPage } from './page-port.ts';

/** Reports stored events soon after they are stored. It may miss some, and may report one twice. */
export interface WakeUpSource {
  /** How often the end of the log is also polled. */
  readonly askEveryMs: number;
  /**
   * Starts to report.
   * @param onStored is called with the position of a stored event, and with its page if that was read already
   * @returns a function that stops the reports
   */
  readonly start: (onStored: (position: number, page?: SharedPage) => void) => () => void;
  /** Calls a listener, from now on, for each stream whose removal another thread reports. */
  readonly onRemoved?: (listener: (stream: string) => void) => void;
  /** Closes the source. */
  readonly close: () => void;
}

/** The thread at the other end of the port polls more often, and sends the pages that it reads. */
const askEveryMs = 1_000;

/**
 * Creates wake-ups from a `LogReader` in another thread, with the pages that it reads.
 * @param port of its `wakePort`; closed with the source
 */
export function wakeUpsByPort(port: MessagePort): WakeUpSource {
  let listener: ((position: number, page: SharedPage) => void) | null = null;
  let removalListener: (stream: string) => void = () => {};
  port.on('message', (message: PageMessage) => {
    if (message.kind === 'removed') {
      removalListener(message.stream);
      port.postMessage({ kind: 'removal-acknowledged' } satisfies PageMessage);
    }
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
    onRemoved(onRemoved) {
      removalListener = onRemoved;
    },
    close: () => port.close(),
  };
}
