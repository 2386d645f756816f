import { serviceOwner } from './work-owner.ts';

/**
 * Divides a limited amount, for example places or bytes, among owners. An owner gets more only while it has less than
 * what is free, so there is always room for an owner that has nothing: one alone gets half, two get a third each. The
 * service's own work may take all.
 */
export class FairRoom {
  readonly #max: number;
  readonly #takenBy = new Map<string, number>();
  #taken = 0;

  /** @param max the amount that all owners together may have */
  constructor(max: number) {
    this.#max = max;
  }

  /** The amount that all owners have. */
  get taken(): number {
    return this.#taken;
  }

  /** The amount that an owner has. */
  takenBy(owner: string): number {
    return this.#takenBy.get(owner) ?? 0;
  }

  /** Whether an owner may take an amount. */
  hasRoom(owner: string, amount = 1): boolean {
    const free = this.#max - this.#taken;
    return amount <= free && (owner === serviceOwner || this.takenBy(owner) < free);
  }

  /** Takes an amount, which the caller must give back. @returns false if there is no room for it */
  take(owner: string, amount = 1): boolean {
    if (!this.hasRoom(owner, amount)) return false;
    this.#count(owner, amount);
    return true;
  }

  /** Gives back an amount. */
  giveBack(owner: string, amount = 1): void {
    this.#count(owner, -amount);
  }

  #count(owner: string, amount: number): void {
    this.#taken += amount;
    const ofOwner = this.takenBy(owner) + amount;
    if (ofOwner === 0) this.#takenBy.delete(owner);
    else this.#takenBy.set(owner, ofOwner);
  }
}
