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
  /** It acts late or is answered late: after the lease of its node is lost, or after its client has given up. */
  | 'answered late'
  /** Its client gives up, and it has no effect. */
  | 'lost'
  /** Not even its client ends it. It may have an effect. */
  | 'never answered';

const badFates: ReadonlyArray<CallFate> = [
  'refused',
  'refused late',
  'wrong error',
  'answer lost',
  'answered late',
  'lost',
  'never answered',
];

/** A disturbance of some calls of some nodes. */
export interface Disturbance {
  /** Null for all. */
  readonly node: string | null;
  /** Names of stores, or single calls such as `records.put`; null for all. */
  readonly calls: ReadonlySet<string> | null;
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
  latencyMs(node: string, store: string, call: string): number {
    const slow = this.#of(node, store, call).reduce((sum, { slowMs }) => sum + slowMs, 0);
    return 0.2 + this.#random.next() * 2 + (slow / 2) * (0.8 + 0.4 * this.#random.next());
  }

  fateOf(node: string, store: string, call: string): CallFate {
    for (const { rate, fates } of this.#of(node, store, call))
      if (this.#random.isTrue(rate)) return this.#random.pick(fates);
    return 'answered';
  }

  #of(node: string, store: string, call: string): ReadonlyArray<Disturbance> {
    const isHit = ({ calls }: Disturbance) => calls === null || calls.has(store) || calls.has(`${store}.${call}`);
    return [...this.#disturbances].filter((one) => (one.node === null || one.node === node) && isHit(one));
  }
}

/** Some or all of the fates other than a normal answer. */
export function someFates(random: Random): ReadonlyArray<CallFate> {
  const some = badFates.filter(() => random.isTrue(0.4));
  return some.length === 0 ? [random.pick(badFates)] : some;
}
