import type { Leases, Renewal } from '#leases/leases.ts';
import type { SimulatedTime } from '../simulated-time.ts';

/** A holder renews more often. After a longer pause its node was frozen, and notices only now that its term is over. */
const maxPauseMs = 600;

/** Watches which nodes hold the leases of a world. A holder renews its term as long as it counts on it. */
export class HeldLeases {
  readonly #time: SimulatedTime;
  /** The newest term of each lease whose holder knows that it holds it. */
  readonly #newest = new Map<string, number>();
  /** When a holder has asked last, by node, lease and token. */
  readonly #asked = new Map<string, number>();
  readonly #known = new Set<string>();
  readonly problems: string[] = [];

  constructor(time: SimulatedTime) {
    this.#time = time;
  }

  /** Returns the leases of a node, whose renewals are watched. */
  watch(node: string, leases: Leases): Leases {
    return {
      get callLimitMs() {
        return leases.callLimitMs;
      },
      look: () => leases.look(),
      begin: (name, token, holder) => leases.begin(name, token, holder),
      release: (name, token) => leases.release(name, token),
      renew: async (renewal) => {
        this.#asks(node, renewal);
        const expiry = await leases.renew(renewal);
        if (expiry !== null) this.#holds(node, renewal);
        return expiry;
      },
    };
  }

  #asks(node: string, { name, token }: Renewal): void {
    const term = `${node} ${name} ${token}`;
    const { now } = this.#time;
    const pauseMs = now - (this.#asked.get(term) ?? now);
    this.#asked.set(term, now);
    if (!this.#known.has(term) || pauseMs > maxPauseMs || (this.#newest.get(name) ?? 0) <= token) return;
    this.problems.push(`${node} counts on term ${token} of ${name} next to a newer one`);
    this.#known.delete(term);
  }

  #holds(node: string, { name, token }: Renewal): void {
    this.#known.add(`${node} ${name} ${token}`);
    this.#newest.set(name, Math.max(token, this.#newest.get(name) ?? 0));
  }
}
