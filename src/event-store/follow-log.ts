import { BackOff, type BackOffLimits } from '#shared/async/back-off.ts';
import { delay } from '#shared/async/delay.ts';
import type { EventBatch, EventStore, SubscribeOptions } from './event-store.ts';

export interface FollowLogOptions extends Omit<SubscribeOptions, 'after'> {
  readonly store: Pick<EventStore, 'subscribe'>;
  /** Returns the position after which to begin, and to continue after each failure; null to end. */
  readonly after: () => number | null | Promise<number | null>;
  readonly handle: (batch: EventBatch) => void | Promise<void>;
  /** Called for each failure of the store, of `after` and of `handle` before it is retried. What it throws is thrown. */
  readonly onFailure: (error: unknown) => void;
  readonly retryLimits: BackOffLimits;
  /** Default: the machine's time and chance. */
  readonly clock?: {
    pause(milliseconds: number, signal: AbortSignal): Promise<void>;
    random(): number;
  };
}

const ownClock = { pause: delay, random: Math.random };

/**
 * Gives the log to a handler batch by batch, then live, until the signal aborts. When the store or the handler fails, it
 * subscribes again, after a pause that grows with each failure in a row.
 * @throws what `onFailure` throws
 */
export async function followLog(options: FollowLogOptions): Promise<void> {
  const { store, after, handle, onFailure, retryLimits, clock = ownClock, ...subscription } = options;
  const { signal } = subscription;
  const backOff = new BackOff(retryLimits, () => clock.random());
  while (!signal.aborted) {
    try {
      const position = await after();
      if (position === null) return;
      for await (const batch of store.subscribe({ ...subscription, after: position })) {
        await handle(batch);
        backOff.succeeded();
      }
    } catch (error) {
      if (!signal.aborted) onFailure(error);
    }
    await clock.pause(backOff.failed(), signal);
  }
}
