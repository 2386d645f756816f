import type { MessagePort } from 'node:worker_threads';

/** Reports stored events soon after they are stored. It may miss some, and may report one twice. */
export interface WakeUpSource {
  /** How often the end of the log is asked for besides. */
  readonly askEveryMs: number;
  /** Starts to report. @param onStored gets the position of an event that was stored @returns ends it */
  readonly start: (onStored: (position: number) => void) => () => void;
  /** Ends it for good. */
  readonly close: () => void;
}

/** The thread at the other end of the port asks more often, and reports what it learns. */
const askEveryMs = 1_000;

/** Wake-ups from a `LogEnd` in another thread. @param port of its `wakePort`; closed with the source */
export function wakeUpsByPort(port: MessagePort): WakeUpSource {
  let listener: ((position: number) => void) | null = null;
  port.on('message', (position: number) => {
    port.postMessage('acknowledged');
    listener?.(position);
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
