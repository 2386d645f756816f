/** How often deadlines are checked, in ms: one runs out at most so long after its time. */
const tickMs = 20;

const watched = new Set<Deadline>();
let ticking: NodeJS.Timeout | null = null;

/**
 * A limit that is set and moved at every step of a call and seldom runs out. All of them are watched by one timer: one
 * of Node's for each would cost a call more than anything else that is done for it.
 */
export class Deadline {
  readonly #onOver: () => void;
  #at = 0;

  /** @param onOver called once for each time that it is set and runs out */
  constructor(onOver: () => void) {
    this.#onOver = onOver;
  }

  /** Sets the deadline, or replaces it. @param milliseconds from now; it runs out up to 20 ms later */
  set(milliseconds: number): void {
    this.#at = performance.now() + milliseconds;
    watched.add(this);
    ticking ??= setInterval(tick, tickMs);
  }

  /** Takes it away. */
  clear(): void {
    watched.delete(this);
  }

  /** Ends it where its time has come. */
  look(now: number): void {
    if (now < this.#at) return;
    watched.delete(this);
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
  for (const deadline of watched) deadline.look(now);
}
