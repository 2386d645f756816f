import assert from 'node:assert/strict';
import { long } from '#test/support/run/long.ts';
import { type Budget, expiries, LeaseModel, type Moment, type Rates } from './lease-model.ts';

/** What the holder and the other node may do, and the last moment. */
interface Extent {
  readonly holder: Budget;
  readonly candidate: Budget;
  readonly until: number;
}

const candidate = { looks: 2, begins: 1, renewals: 1 };
const holder = { looks: 0, begins: 0, renewals: 1 };

describe('Two nodes that compete for a lease', () => {
  const neverHoldBoth = (title: string, extent: Extent, rates: Rates = [1, 1.2]) =>
    it(`never hold it both, in every order of ${title}`, function () {
      this.timeout(300_000);
      const takeovers = explore(new LeaseModel(rates, extent.until), extent);
      assert.ok(takeovers > 0, 'the other node takes the lease over in some orders');
    });

  neverHoldBoth('a renewal and a takeover by a node whose clock is faster', { holder, candidate, until: 3 });
  neverHoldBoth('a renewal and a takeover by a node whose clock is slower', { holder, candidate, until: 3 }, [1.2, 1]);
  neverHoldBoth(`a renewal and a takeover that take longer ${long}`, { holder, candidate, until: 5 });
  neverHoldBoth(`two renewals and a takeover ${long}`, { holder: { ...holder, renewals: 2 }, candidate, until: 3 });
  neverHoldBoth(`two takeovers ${long}`, { holder: { looks: 1, begins: 1, renewals: 1 }, candidate, until: 4 });
});

/**
 * Tries every order. Messages that are never delivered are lost, and late ones are delivered later.
 * @returns the number of moments in which the other node counts on the lease
 */
function explore(model: LeaseModel, extent: Extent): number {
  const keys = new Keys();
  const open = expiries.flatMap((expiryMs) =>
    expiries.map((nextMs) => model.first(expiryMs, nextMs, extent.holder, extent.candidate)),
  );
  let takeovers = 0;
  for (let moment = open.pop(); moment !== undefined; moment = open.pop()) {
    if (!keys.isNew(moment)) continue;
    const holders = model.holders(moment);
    if (holders.length > 1) assert.fail(JSON.stringify(moment, null, 2));
    if (holders.includes(1)) takeovers += 1;
    if (model.canBothHold(moment)) open.push(...model.next(moment));
  }
  return takeovers;
}

/** Knows which moments were tried. Their parts are shared by many moments, so each part is written as text once. */
class Keys {
  readonly #tried = new Set<string>();
  readonly #numbers = new Map<string, number>();
  readonly #known = new WeakMap<object, number>();

  isNew({ now, terms, nodes, messages }: Moment): boolean {
    const [stored, own, sent] = [terms, nodes, messages].map((parts) => parts.map((part) => this.#numberOf(part)));
    const key = `${now} ${stored} ${own} ${sent?.sort()}`;
    if (this.#tried.has(key)) return false;
    this.#tried.add(key);
    return true;
  }

  #numberOf(part: object): number {
    const known = this.#known.get(part);
    if (known !== undefined) return known;
    const text = JSON.stringify(part, (_, value) => (value instanceof Map ? [...value] : value));
    const number = this.#numbers.get(text) ?? this.#numbers.size;
    this.#numbers.set(text, number);
    this.#known.set(part, number);
    return number;
  }
}
