import { setImmediate as settled } from 'node:timers/promises';
import type { Clock } from '#leases/clock.ts';
import type { LeaseStore } from '#leases/lease-store.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';

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

/** The network delays of one call of a store, and whether it is lost. */
export interface CallOutcome {
  readonly requestDelayMs: number;
  readonly responseDelayMs: number;
  readonly lost: 'request' | 'answer' | null;
}

export interface VirtualNodeOptions {
  readonly time: VirtualTime;
  readonly leases: LeaseStore;
  /** The speed of its clock. */
  readonly rate: number;
  /** The outcome of its next call. */
  readonly outcome: () => CallOutcome;
  /** A random number from 0 to 1. */
  readonly random: () => number;
}

const callTimeoutMs = 1000;

/** A machine with its own clock and network. While it is frozen, nothing runs on it. */
export class VirtualNode implements Clock {
  readonly #options: VirtualNodeOptions;
  #late: (() => void)[] = [];
  #frozen = false;
  /** Whether it is not frozen and has handled everything that arrived while it was. */
  awake = true;

  constructor(options: VirtualNodeOptions) {
    this.#options = options;
  }

  now(): number {
    return this.#options.time.now * this.#options.rate;
  }

  pause(milliseconds: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
      this.#in(milliseconds / this.#options.rate, resolve);
    });
  }

  random(): number {
    return this.#options.random();
  }

  freeze(): void {
    this.#frozen = true;
    this.awake = false;
  }

  thaw(): void {
    this.#frozen = false;
    for (const run of this.#late.splice(0)) this.#in(0, run);
    this.#in(0, () => {
      this.awake = true;
    });
  }

  /** The lease store behind the machine's network. */
  get leases(): LeaseStore {
    const { leases } = this.#options;
    return {
      newestOfAll: () => this.#call(() => leases.newestOfAll()),
      begin: (name, token, holder) => this.#call(() => leases.begin(name, token, holder)),
      renewAll: (terms) => this.#call(() => leases.renewAll(terms)),
      release: (name, token) => this.#call(() => leases.release(name, token)),
      close: () => leases.close(),
    };
  }

  #call<Result>(work: () => Promise<Result>): Promise<Result> {
    const { time, outcome } = this.#options;
    const { requestDelayMs, responseDelayMs, lost } = outcome();
    return new Promise((resolve, reject) => {
      this.#in(callTimeoutMs, () => reject(new UnavailableError('It does not answer in time.')));
      if (lost === 'request') return;
      time.in(requestDelayMs, async () => {
        const result = await work();
        if (lost === null) this.#in(responseDelayMs, () => resolve(result));
      });
    });
  }

  #in(milliseconds: number, run: () => void): void {
    this.#options.time.in(milliseconds, () => {
      if (this.#frozen) this.#late.push(run);
      else run();
    });
  }
}
