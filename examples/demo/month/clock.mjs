// Preloaded into the service that makes the demo's history: it moves the clock of that process. Nothing in Switchyard
// itself can set the time of an event.
import { isMainThread } from 'node:worker_threads';

const startedDaysAgo = 30;

if (isMainThread) {
  const RealDate = Date;
  let behindMs = startedDaysAgo * 24 * 60 * 60 * 1_000;
  const now = () => RealDate.now() - behindMs;
  globalThis.Date = class extends RealDate {
    constructor(...parts) {
      super(...(parts.length === 0 ? [now()] : parts));
    }

    static now() {
      return now();
    }
  };
  process.on('message', ({ time }) => {
    behindMs = RealDate.now() - time;
    process.send?.({ time });
  });
  // Its only purpose ends with its parent.
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
}
