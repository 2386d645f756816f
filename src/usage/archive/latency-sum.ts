import type { LatencyDistribution } from '#domain/usage/events.ts';

/** Merges distributions of latencies with the same accuracy. */
export class LatencySum {
  #count = 0;
  #sum = 0;
  #min = Number.POSITIVE_INFINITY;
  #max = 0;
  readonly #bins = new Map<number, number>();

  add({ count, sum, min, max, bins }: LatencyDistribution): void {
    if (count === 0) return;
    this.#count += count;
    this.#sum += sum;
    this.#min = Math.min(this.#min, min);
    this.#max = Math.max(this.#max, max);
    for (const [index, calls] of bins) this.#bins.set(index, (this.#bins.get(index) ?? 0) + calls);
  }

  /** The merged distribution; null without latencies. */
  distribution(): LatencyDistribution | null {
    if (this.#count === 0) return null;
    const bins = [...this.#bins].sort(([one], [other]) => one - other);
    // To the microsecond, like the added distributions.
    const sum = Math.round(this.#sum * 1_000) / 1_000;
    return { count: this.#count, sum, min: this.#min, max: this.#max, bins };
  }
}
