import type { Random } from './random.ts';

/** What happens to one call of a store. */
export type CallFate =
  | 'answered'
  /** It fails immediately and has no effect. */
  | 'refused'
  /** It fails late and has no effect. */
  | 'refused late'
  /** It fails with an error that no port names, and has no effect. */
  | 'wrong error'
  /** It has an effect, and its answer is lost: it fails late. */
  | 'answer lost'
  /** It is answered after the lease of its node is lost. */
  | 'answered late'
  /** It is never answered, and has no effect. */
  | 'lost';

const badFates: ReadonlyArray<CallFate> = [
  'refused',
  'refused late',
  'wrong error',
  'answer lost',
  'answered late',
  'lost',
];

/** A disturbance of the calls of some nodes to some stores. */
export interface Disturbance {
  /** Null for all. */
  readonly node: string | null;
  readonly stores: ReadonlySet<string> | null;
  /** The share of calls that do not go well. */
  readonly rate: number;
  readonly fates: ReadonlyArray<CallFate>;
  /** How much longer each call takes. */
  readonly slowMs: number;
}

/** How well the nodes of a world reach its stores at the moment. */
export class Weather {
  readonly #random: Random;
  readonly #disturbances = new Set<Disturbance>();

  constructor(random: Random) {
    this.#random = random;
  }

  /** @returns a function that ends it */
  begin(disturbance: Disturbance): () => void {
    this.#disturbances.add(disturbance);
    return () => this.#disturbances.delete(disturbance);
  }

  clear(): void {
    this.#disturbances.clear();
  }

  /** How long a call takes to its store, or the answer back. */
  latencyMs(node: string, store: string): number {
    const slow = this.#of(node, store).reduce((sum, { slowMs }) => sum + slowMs, 0);
    return 0.2 + this.#random.next() * 2 + (slow / 2) * (0.8 + 0.4 * this.#random.next());
  }

  fateOf(node: string, store: string): CallFate {
    for (const { rate, fates } of this.#of(node, store)) if (this.#random.isTrue(rate)) return this.#random.pick(fates);
    return 'answered';
  }

  #of(node: string, store: string): ReadonlyArray<Disturbance> {
    return [...this.#disturbances].filter(
      (one) => (one.node === null || one.node === node) && (one.stores === null || one.stores.has(store)),
    );
  }
}

/** Some or all of the fates other than a normal answer. */
export function someFates(random: Random): ReadonlyArray<CallFate> {
  const some = badFates.filter(() => random.isTrue(0.4));
  return some.length === 0 ? [random.pick(badFates)] : some;
}
