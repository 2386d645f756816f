import type { EventBatch } from '#event-store/event-store.ts';
import type { Logger } from '#shared/logging/logger.ts';
import type { Pace } from './projection-runtime.ts';

const progressIntervalMs = 5000;

interface Pass {
  readonly startedAt: number;
  readonly built: string[];
  events: number;
  hasReportedStart: boolean;
  reportedAt: number;
}

/**
 * Writes log lines about rebuilds: one when the first begins, one every few seconds with the progress, and one when all
 * are done. It writes nothing when there was nothing to rebuild.
 */
export class RebuildLog {
  readonly #log: Logger;
  #pass: Pass | null = null;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** A batch was folded. @param projections that are being rebuilt */
  folded(batch: EventBatch, projections: ReadonlyArray<string>, pace: Pace | null): void {
    if (projections.length === 0) return;
    const now = performance.now();
    this.#pass ??= { startedAt: now, built: [], events: 0, hasReportedStart: false, reportedAt: now };
    this.#pass.events += batch.events.length;
    if (batch.caughtUp) return;
    if (!this.#pass.hasReportedStart) {
      this.#pass.hasReportedStart = true;
      this.#log.info({ projections }, 'Read models are being built');
    } else if (now - this.#pass.reportedAt >= progressIntervalMs && pace !== null) {
      this.#pass.reportedAt = now;
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

/** Measures the rebuilds since the last one was begun. */
export class ThroughputMeter {
  #startedAt = 0;
  #from: number | null = null;
  #events = 0;
  #position = 0;
  #target = 0;

  restart(): void {
    this.#from = null;
  }

  count(batch: EventBatch): void {
    if (this.#from === null) {
      // The first batch gives the start position. How long it took to read is not known.
      this.#from = batch.position;
      this.#startedAt = performance.now();
      this.#events = 0;
    } else {
      this.#events += batch.events.length;
    }
    this.#position = batch.position;
  }

  aim(target: number): void {
    this.#target = target;
  }

  pace(): Pace | null {
    if (this.#from === null) return null;
    const seconds = Math.max(0.001, (performance.now() - this.#startedAt) / 1000);
    const eventsPerSecond = this.#events / seconds;
    return { target: this.#target, eventsPerSecond, positionsPerSecond: (this.#position - this.#from) / seconds };
  }
}
