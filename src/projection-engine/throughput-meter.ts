import type { EventBatch } from '#event-store/event-store.ts';
import type { Pace } from './projection-runtime.ts';

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
