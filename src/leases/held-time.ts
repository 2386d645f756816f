/**
 * The share of an expiry for which the holder counts on its term. The clock of another node may run a fifth faster
 * before it sees the term as over too early.
 */
const holderShare = 0.8;

/** A renewal that the holder has sent. */
export interface SentRenewal {
  /** Its place among the renewals of the term; the beginning of the term is the first. */
  readonly place: number;
  readonly sentAt: number;
  /** The expiry that it writes. Before its acknowledgement the holder knows only the smallest possible one. */
  readonly expiryMs: number;
}

/**
 * Until when this node may count on a term that it holds, by its own clock. It counts from the last acknowledged renewal
 * with the smallest expiry of that one and of every one sent since, because another node may count with any of these. So
 * a longer expiry counts when it is acknowledged, and a shorter one when it is sent.
 */
export class HeldTime {
  #acknowledged: SentRenewal;
  /** The renewals after the acknowledged one. */
  #later: SentRenewal[] = [];
  #places = 0;
  #hasLapsed = false;

  /** The beginning of the term counts as its first renewal. */
  constructor(begunAt: number, expiryMs: number) {
    this.#acknowledged = { place: 0, sentAt: begunAt, expiryMs };
  }

  /** Call it before the renewal is sent. */
  send(now: number, minExpiryMs: number): SentRenewal {
    this.#places += 1;
    const sent = { place: this.#places, sentAt: now, expiryMs: minExpiryMs };
    this.#later.push(sent);
    return sent;
  }

  /** Counts with a renewal that the store has, unless the term has lapsed before the answer. */
  acknowledge(renewal: SentRenewal, expiryMs: number, now: number): void {
    if (this.remainingMs(now) <= 0 || renewal.place < this.#acknowledged.place) return;
    this.#acknowledged = { ...renewal, expiryMs };
    this.#later = this.#later.filter(({ place }) => place > renewal.place);
  }

  /** A term that has lapsed never comes back: another node may have seen it as over, and may begin the next one. */
  remainingMs(now: number): number {
    const expiryMs = Math.min(...[this.#acknowledged, ...this.#later].map((renewal) => renewal.expiryMs));
    const leftMs = this.#acknowledged.sentAt + expiryMs * holderShare - now;
    this.#hasLapsed ||= leftMs <= 0;
    return this.#hasLapsed ? 0 : leftMs;
  }
}
