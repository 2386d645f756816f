import { type GiveBack, Held } from '#exchange/held.ts';
import { currentOwner, type FairPlaces } from '#shared/async/fair-queue.ts';

/**
 * What an append takes of the room of all appends, until its outcome is known. That may be after its request was answered
 * with `unavailable`, so the request does not hold it.
 */
export class AppendPlace {
  #held: Held;
  readonly #place: GiveBack;
  #isKept = false;

  private constructor(owner: string, leave: () => void) {
    this.#held = new Held(owner);
    this.#place = this.#held.add(leave);
  }

  /** Takes a place of the current owner. @returns null if there is no room */
  static take(room: FairPlaces, bytes: number): AppendPlace | null {
    const owner = currentOwner();
    return room.take(owner, bytes) ? new AppendPlace(owner, () => room.giveBack(owner, bytes)) : null;
  }

  /** Notes that its request has been answered, while its outcome is still unknown. */
  keep(): void {
    if (this.#isKept) return;
    this.#isKept = true;
    this.#held = this.#held.keep('settling append', this.#place);
  }

  /** Ends it: its outcome is known. */
  leave(): void {
    this.#isKept = true;
    this.#held.release();
  }
}
