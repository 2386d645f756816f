import { addUsage, noUsage, type UsageSums } from '#domain/usage/usage-total.ts';
import type { UsageDocument } from '#projections/usage/usage-by-period.ts';
import { figuresOf } from './figures-of-sums.ts';
import { type Grouping, groupOf, type UsageRowGroup } from './group-by.ts';
import type { UsageRow } from './usage-answer.ts';

/** Sums documents up to rows. The rows are in the order of time, then by calls (most first), then by name. */
export class UsageRows {
  readonly #groupBy: ReadonlyArray<Grouping>;
  readonly #rows = new Map<string, { readonly group: UsageRowGroup; sums: UsageSums }>();

  constructor(groupBy: ReadonlyArray<Grouping>) {
    this.#groupBy = groupBy;
  }

  get size(): number {
    return this.#rows.size;
  }

  add(document: UsageDocument): void {
    const group = groupOf(this.#groupBy, document);
    const name = JSON.stringify(group);
    const row = this.#rows.get(name);
    if (row === undefined) this.#rows.set(name, { group, sums: document.sums });
    else row.sums = addUsage(row.sums, document.sums);
  }

  /** Returns the rows. Without a grouping there is always one row, even if there are no calls. */
  rows(): ReadonlyArray<UsageRow> {
    if (this.#groupBy.length === 0 && this.size === 0) return [figuresOf(noUsage)];
    const named = [...this.#rows].map(([name, { group, sums }]) => ({ name, time: timeOf(group), group, sums }));
    named.sort((one, other) => {
      if (one.time !== other.time) return one.time < other.time ? -1 : 1;
      return other.sums.calls - one.sums.calls || (one.name < other.name ? -1 : 1);
    });
    return named.map(({ group, sums }) => ({ ...group, ...figuresOf(sums) }));
  }
}

const timeOf = ({ hour, day }: UsageRowGroup) => hour ?? day ?? '';
