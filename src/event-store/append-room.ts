import { FairRoom } from '#shared/async/fair-queue.ts';
import { currentOwner } from '#shared/async/work-owner.ts';

/** The most appends that wait for a store, and the most bytes of these. */
export interface AppendRoomLimits {
  readonly maxPending: number;
  readonly maxPendingBytes: number;
}

/** The room for appends that wait for a store, divided among the projects for which they are made. */
export class AppendRoom {
  readonly #appends: FairRoom;
  readonly #bytes: FairRoom;

  constructor({ maxPending, maxPendingBytes }: AppendRoomLimits) {
    this.#appends = new FairRoom(maxPending);
    this.#bytes = new FairRoom(maxPendingBytes);
  }

  /** Takes room for an append of the project whose work runs. @returns gives it back; null if there is none */
  take(bytes: number): (() => void) | null {
    const owner = currentOwner();
    if (!this.#appends.hasRoom(owner) || !this.#bytes.take(owner, bytes)) return null;
    this.#appends.take(owner);
    return () => {
      this.#appends.giveBack(owner);
      this.#bytes.giveBack(owner, bytes);
    };
  }
}
