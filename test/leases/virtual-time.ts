import { setImmediate as settled } from 'node:timers/promises';

interface Due {
  readonly at: number;
  readonly run: () => void;
}

/** Simulated time that advances as soon as all due work is done, and is deterministic. */
export class VirtualTime {
  now = 0;
  #due: Due[] = [];

  /** Schedules work for later; work due at the same time runs in the order of the calls. */
  in(milliseconds: number, run: () => void): void {
    const at = this.now + milliseconds;
    const place = this.#due.findIndex((other) => other.at > at);
    this.#due.splice(place === -1 ? this.#due.length : place, 0, { at, run });
  }

  async pass(milliseconds: number): Promise<void> {
    const until = this.now + milliseconds;
    await settled();
    for (let next = this.#due[0]; next !== undefined && next.at <= until; next = this.#due[0]) {
      this.#due.shift();
      this.now = next.at;
      next.run();
      await settled();
    }
    this.now = until;
  }
}
