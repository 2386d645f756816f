import { DDSketch } from '@datadog/sketches-js';
import type { LatencyDistribution } from '#domain/usage/events.ts';
import { relativeAccuracy } from '#domain/usage/latency-bins.ts';

/** Shorter latencies count as this one, because the clock is not more precise. */
const leastMs = 0.001;

/** Collects the distribution of latencies. */
export class LatencySketch {
  readonly #sketch = new DDSketch({ relativeAccuracy });

  add(milliseconds: number): void {
    this.#sketch.accept(Math.max(leastMs, milliseconds));
  }

  /** The distribution so far; null without latencies. */
  distribution(): LatencyDistribution | null {
    const { count, sum, min, max, store } = this.#sketch;
    if (count === 0) return null;
    const bins = store.bins.flatMap((calls, index) =>
      calls === 0 ? [] : [[index + store.offset, calls] as [number, number]],
    );
    return { count, sum: rounded(sum), min: rounded(min), max: rounded(max), bins };
  }
}

/** To the microsecond; further digits are noise. */
function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 1_000) / 1_000;
}
