import { DDSketch } from '@datadog/sketches-js';
import type { LatencyDistribution } from '#domain/usage/events.ts';
import { relativeAccuracy } from '#domain/usage/latency-bins.ts';

/** Shorter latencies count as this: the clock is not precise below it. */
const leastMs = 0.001;

/** Takes latencies and keeps their distribution. */
export class LatencySketch {
  readonly #sketch = new DDSketch({ relativeAccuracy });

  add(milliseconds: number): void {
    this.#sketch.accept(Math.max(leastMs, milliseconds));
  }

  /** The distribution so far; null where there is none. */
  distribution(): LatencyDistribution | null {
    const { count, sum, min, max, store } = this.#sketch;
    if (count === 0) return null;
    const bins = store.bins.flatMap((calls, index) =>
      calls === 0 ? [] : [[index + store.offset, calls] as [number, number]],
    );
    return { count, sum: rounded(sum), min: rounded(min), max: rounded(max), bins };
  }
}

/** To the microsecond: what is beyond is noise that takes room. */
function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 1_000) / 1_000;
}
