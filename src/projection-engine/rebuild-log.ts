import type { EventBatch } from '#event-store/event-store.ts';
import type { Log } from '#shared/logging/read-store-log.ts';
import type { Pace } from './projection-runtime.ts';

const progressMilliseconds = 5000;

interface Pass {
  readonly startedAt: number;
  readonly built: string[];
  events: number;
  begunTold: boolean;
  toldAt: number;
}

/**
 * Tells the log of rebuilds, whose read models go through the events together: once when they begin, unless that is
 * the end already, then how far they are, and once when they are done. Where there was nothing to fill it is silent.
 */
export class RebuildLog {
  readonly #log: Log;
  #pass: Pass | null = null;

  constructor(log: Log) {
    this.#log = log;
  }

  /** A batch was folded. @param projections that are being rebuilt */
  folded(batch: EventBatch, projections: ReadonlyArray<string>, pace: Pace | null): void {
    if (projections.length === 0) return;
    const now = performance.now();
    this.#pass ??= { startedAt: now, built: [], events: 0, begunTold: false, toldAt: now };
    this.#pass.events += batch.events.length;
    if (batch.caughtUp) return;
    if (!this.#pass.begunTold) {
      this.#pass.begunTold = true;
      this.#log.info({ projections }, 'Read models are being built');
    } else if (now - this.#pass.toldAt >= progressMilliseconds && pace !== null) {
      this.#pass.toldAt = now;
      this.#log.info(progressOf(batch.position, pace), 'Read models are being built');
    }
  }

  /** A read model was built, and is what queries read now. */
  built(projection: string): void {
    this.#pass?.built.push(projection);
  }

  /** No read model is being rebuilt any more. */
  ended(): void {
    const pass = this.#pass;
    this.#pass = null;
    if (pass === null || pass.events === 0 || pass.built.length === 0) return;
    const seconds = Math.round((performance.now() - pass.startedAt) / 100) / 10;
    this.#log.info({ projections: pass.built, events: pass.events, seconds }, 'Read models are built');
  }
}

function progressOf(position: number, { target, eventsPerSecond, positionsPerSecond }: Pace) {
  const left = Math.max(0, target - position);
  return {
    percent: Math.floor((100 * position) / Math.max(1, position + left)),
    eventsPerSecond: Math.round(eventsPerSecond),
    secondsLeft: positionsPerSecond > 0 ? Math.ceil(left / positionsPerSecond) : null,
  };
}
