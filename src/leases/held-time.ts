/**
 * The share of an expiry for which the holder counts on its term. The clock of another node may run a fifth faster
 * before it sees the term as over too early.
 */
const holderShare = 0.8;

/** A renewal that the holder has sent. The beginning of a term is the first. */
export interface SentRenewal {
  readonly sentAt: number;
  /** The expiry that it writes. Before its acknowledgement the holder knows only the smallest possible one. */
  readonly expiryMs: number;
}

/**
 * Until when this node may count on a term that it holds, by its own clock. It counts from the last acknowledged renewal
 * with the smallest expiry of that one and of every one sent since, because another node may count with any of these. So
 * a longer expiry counts when it is acknowledged, and a shorter one when it is sent. A value: it is replaced with each
 * renewal.
 */
export class HeldTime {
  readonly acknowledged: SentRenewal;
  readonly later: ReadonlyArray<SentRenewal>;

  constructor(acknowledged: SentRenewal, later: ReadonlyArray<SentRenewal> = []) {
    this.acknowledged = acknowledged;
    this.later = later;
  }

  /** Call it before the renewal is sent. */
  sent(renewal: SentRenewal): HeldTime {
    return new HeldTime(this.acknowledged, [...this.later, renewal]);
  }

  /**
   * Counts with a renewal that the store has. A term that had lapsed before the answer stays so: another node may have
   * seen it as over, and may begin the next one.
   */
  acknowledge(renewal: SentRenewal, expiryMs: number, now: number): HeldTime {
    const place = this.later.indexOf(renewal);
    if (place === -1 || this.remainingMs(now) <= 0) return this;
    return new HeldTime({ ...renewal, expiryMs }, this.later.slice(place + 1));
  }

  /** Not above zero after the term has lapsed. */
  remainingMs(now: number): number {
    const expiryMs = Math.min(...[this.acknowledged, ...this.later].map((renewal) => renewal.expiryMs));
    return this.acknowledged.sentAt + expiryMs * holderShare - now;
  }
}
