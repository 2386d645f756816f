/** A deadline fires at most this long after its time. */
const tickMs = 20;

/**
 * The deadlines that are set, in no order. A `Set` would keep ended calls alive: V8 replaces its table often, the old table
 * still names its members and the next table, and once one table has reached the old generation, all later ones stay
 * until a full garbage collection.
 */
const watched: Deadline[] = [];
let ticking: NodeJS.Timeout | null = null;

/**
 * A timeout that each step of a call sets again and that rarely fires. One timer checks all deadlines, because a Node
 * timer for each would be the most expensive part of a call.
 */
export class Deadline {
  readonly #onOver: () => void;
  #at = 0;
  /** Its index among those that are set; null while it is not. */
  #index: number | null = null;

  /** @param onOver called each time */
  constructor(onOver: () => void) {
    this.#onOver = onOver;
  }

  /** Sets the time in place of an earlier one. @param milliseconds from now; it fires up to 20 ms later */
  set(milliseconds: number): void {
    this.#at = performance.now() + milliseconds;
    this.#index ??= watched.push(this) - 1;
    ticking ??= setInterval(tick, tickMs);
  }

  clear(): void {
    const last = watched.at(-1);
    if (this.#index === null || last === undefined) return;
    watched[this.#index] = last;
    last.#index = this.#index;
    watched.pop();
    this.#index = null;
  }

  look(now: number): void {
    if (now < this.#at) return;
    this.clear();
    this.#onOver();
  }
}

function tick(): void {
  if (watched.length === 0 && ticking !== null) {
    clearInterval(ticking);
    ticking = null;
    return;
  }
  const now = performance.now();
  // From the end, because the last one takes the place of one that is removed.
  for (let index = watched.length - 1; index >= 0; index -= 1) watched[index]?.look(now);
}
