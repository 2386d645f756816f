import { UnorderedList, type UnorderedListItem } from '#shared/memory/unordered-list.ts';

/** How often deadlines are checked, in ms. A deadline fires at most this long after its time. */
const tickMs = 20;

const watched = new UnorderedList<Deadline>();
let ticking: NodeJS.Timeout | null = null;

/**
 * A timeout that each step of a call sets again and that rarely fires. One timer checks all deadlines, because a Node
 * timer for each would be the most expensive part of a call.
 */
export class Deadline implements UnorderedListItem {
  readonly #onOver: () => void;
  #at = 0;
  /** Null while it is not set. */
  listIndex: number | null = null;

  /** @param onOver called each time that the deadline fires */
  constructor(onOver: () => void) {
    this.#onOver = onOver;
  }

  /**
   * Sets or replaces the deadline.
   * @param milliseconds from now; it fires up to 20 ms later
   */
  set(milliseconds: number): void {
    this.#at = performance.now() + milliseconds;
    watched.add(this);
    ticking ??= setInterval(tick, tickMs);
  }

  /** Removes the deadline. */
  clear(): void {
    watched.remove(this);
  }

  /** Fires the deadline if its time has come. */
  look(now: number): void {
    if (now < this.#at) return;
    this.clear();
    this.#onOver();
  }
}

function tick(): void {
  if (watched.size === 0 && ticking !== null) {
    clearInterval(ticking);
    ticking = null;
    return;
  }
  const now = performance.now();
  watched.visit((deadline) => deadline.look(now));
}
