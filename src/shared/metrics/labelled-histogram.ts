import { Histogram, type LabelValues, type Registry } from 'prom-client';
import { NestedMap } from '#shared/memory/nested-map.ts';

/** What a histogram is for. */
export interface LabelledHistogramOptions<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: ReadonlyArray<Label>;
  /** The upper bounds of its buckets, in order. */
  readonly buckets: ReadonlyArray<number>;
  /** Called before the histogram is read. */
  readonly collect?: () => void;
}

/** The values with the same labels. */
interface Series<Label extends string> {
  readonly labels: LabelValues<Label>;
  readonly histogram: Histogram;
}

/**
 * A histogram whose values come with every request. prom-client's own writes all labels as a text for each value, which
 * takes longer than everything else that is recorded of a call. This one has a histogram of prom-client's, which has no
 * labels, for each combination of them.
 */
export class LabelledHistogram<Label extends string> {
  // The registry reads these.
  readonly name: string;
  readonly help: string;
  readonly type = 'histogram';
  readonly aggregator = 'sum';
  readonly #options: LabelledHistogramOptions<Label>;
  readonly #series: Series<Label>[] = [];
  readonly #histograms = new NestedMap<string | number, Histogram>();

  constructor(registry: Registry, options: LabelledHistogramOptions<Label>) {
    this.name = options.name;
    this.help = options.help;
    this.#options = options;
    // It only reads the members above, and calls `get`.
    registry.registerMetric(this as unknown as Histogram<Label>);
  }

  /**
   * Adds a value.
   * @param labels the values of its labels, in the order of their names
   */
  observe(labels: ReadonlyArray<string | number>, value: number): void {
    const histogram = this.#histograms.get(labels) ?? this.#addHistogram(labels);
    histogram.observe(value);
  }

  /** Returns what prom-client writes: the values of all histograms, with their labels. */
  async get() {
    this.#options.collect?.();
    const { name, help, type, aggregator } = this;
    const values = await Promise.all(this.#series.map(valuesOf));
    return { name, help, type, aggregator, values: values.flat() };
  }

  #addHistogram(values: ReadonlyArray<string | number>): Histogram {
    const { name, help, labelNames, buckets } = this.#options;
    const labels = Object.fromEntries(labelNames.map((label, index) => [label, values[index]]));
    const histogram = new Histogram({ name, help, buckets: [...buckets], registers: [] });
    this.#histograms.set(values, histogram);
    this.#series.push({ labels: labels as LabelValues<Label>, histogram });
    return histogram;
  }
}

async function valuesOf<Label extends string>({ labels, histogram }: Series<Label>) {
  const { values } = await histogram.get();
  return values.map((value) => ({ ...value, labels: { ...value.labels, ...labels } }));
}
