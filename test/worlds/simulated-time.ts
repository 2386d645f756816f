import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as turnEnded } from 'node:timers/promises';
import { replaceTurns } from '#exchange/turns.ts';
import { replaceChance } from '#shared/chance.ts';
import { type Clock, replaceClock, type Timer } from '#shared/clock.ts';
import type { Random } from './random.ts';
import { pendingCompressions } from './thread-pool.ts';

interface DueWork {
  readonly at: number;
  /** Works that are due at the same time run in the order in which they were scheduled. */
  readonly order: number;
  readonly node: SimulatedNode | null;
  readonly run: () => void;
  isCancelled: boolean;
  /** Whether a process ends although this work is not done. */
  isUnreferenced: boolean;
}

/** A machine of a world. What it starts runs as its own, so that it can be frozen or killed with everything it waits for. */
export class SimulatedNode {
  readonly name: string;
  /** The speed of its clock, as a multiple of the world's. */
  readonly rate: number;
  state: 'running' | 'frozen' | 'dead' = 'running';
  /** What came due while it was frozen. */
  readonly late: DueWork[] = [];

  constructor(name: string, rate = 1) {
    this.name = name;
    this.rate = rate;
  }
}

class SimulatedTimer implements Timer {
  work: DueWork;

  constructor(work: DueWork) {
    this.work = work;
  }

  unref(): this {
    this.work.isUnreferenced = true;
    return this;
  }
}

/** Waits until everything that is not a timer has run, also what the thread pool compresses. */
async function settled(): Promise<void> {
  await turnEnded();
  while (pendingCompressions() > 0) await turnEnded();
}

const nodes = new AsyncLocalStorage<SimulatedNode>();
const stepsPerMs = 1_024;
/** Midnight of a fixed day, in ms since 1970. */
const firstDay = Date.UTC(2026, 0, 1);

/**
 * The time and the chance of a world. Time moves to the next due work as soon as everything else is done, so a world of
 * minutes takes milliseconds, and the same seed gives the same run. `install` replaces the clock, the chance and the turns
 * of the process; dispose it to put them back.
 */
export class SimulatedTime implements Disposable {
  /** Milliseconds since the world began. */
  now = 0;
  readonly random: Random;
  #due: DueWork[] = [];
  #orders = 0;
  #putBack: () => void = () => undefined;

  constructor(random: Random) {
    this.random = random;
  }

  install(): this {
    const putClockBack = replaceClock(this.clock);
    const putChanceBack = replaceChance({ random: () => this.random.next(), randomUuid: () => this.random.uuid() });
    const putTurnsBack = replaceTurns();
    this.#putBack = () => {
      putTurnsBack();
      putClockBack();
      putChanceBack();
    };
    return this;
  }

  [Symbol.dispose](): void {
    this.#putBack();
  }

  /** Runs work as a node's: all that it starts belongs to the node. */
  runOn<Result>(node: SimulatedNode, work: () => Result): Result {
    return nodes.run(node, work);
  }

  /** Runs work as the world's own, whichever node's runs now. */
  runOutside<Result>(work: () => Result): Result {
    return nodes.exit(work);
  }

  /** The works that have not come due and keep a process from its end. */
  get waiting(): number {
    const keeps = ({ isCancelled, isUnreferenced, node }: DueWork) =>
      !isCancelled && !isUnreferenced && node?.state !== 'dead';
    return this.#due.filter(keeps).length;
  }

  /** The node whose work runs now; null for the world's own. */
  get currentNode(): SimulatedNode | null {
    return nodes.getStore() ?? null;
  }

  /** Stops everything on a node until `thaw`. Its clock continues. */
  freeze(node: SimulatedNode): void {
    if (node.state === 'running') node.state = 'frozen';
  }

  thaw(node: SimulatedNode): void {
    if (node.state !== 'frozen') return;
    node.state = 'running';
    for (const { run } of node.late.splice(0)) this.#schedule(0, node, run);
  }

  /** Ends a node: nothing that it waits for ever comes. */
  kill(node: SimulatedNode): void {
    node.state = 'dead';
    node.late.length = 0;
  }

  /** Schedules work of the world, or of the node that runs now. */
  in(milliseconds: number, run: () => void): void {
    this.#schedule(milliseconds, this.currentNode, AsyncLocalStorage.bind(run));
  }

  /** Waits in the world's time. */
  wait(milliseconds: number): Promise<void> {
    return new Promise((resolve) => this.in(milliseconds, resolve));
  }

  /** Lets time pass. Everything that comes due meanwhile runs. */
  async pass(milliseconds: number): Promise<void> {
    await this.passUntil(() => false, milliseconds);
  }

  /** Lets time pass until a condition holds. @returns whether it holds within the limit */
  async passUntil(holds: () => boolean, limitMs: number): Promise<boolean> {
    const until = this.now + limitMs;
    await settled();
    while (!holds()) {
      const next = this.#takeDueUpTo(until);
      if (next === null) {
        this.now = until;
        return holds();
      }
      this.now = Math.max(this.now, next.at);
      this.#run(next);
      await settled();
    }
    return true;
  }

  readonly clock: Clock = {
    now: () => this.now * (this.currentNode?.rate ?? 1),
    time: () => firstDay + Math.floor(this.now),
    setTimeout: (run, milliseconds) => this.#timer(run, milliseconds),
    clearTimeout: (timer) => cancel(timer),
    setInterval: (run, milliseconds) => this.#interval(run, milliseconds),
    clearInterval: (timer) => cancel(timer),
    setImmediate: (run) => this.in(0, run),
    nextTurn: () => this.wait(0),
  };

  #timer(run: () => void, milliseconds: number): SimulatedTimer {
    const node = this.currentNode;
    return new SimulatedTimer(this.#schedule(milliseconds / (node?.rate ?? 1), node, AsyncLocalStorage.bind(run)));
  }

  #interval(run: () => void, milliseconds: number): SimulatedTimer {
    const timer: SimulatedTimer = this.#timer(() => {
      timer.work = this.#timer(again, milliseconds).work;
      run();
    }, milliseconds);
    const again = () => {
      timer.work = this.#timer(again, milliseconds).work;
      run();
    };
    return timer;
  }

  #schedule(milliseconds: number, node: SimulatedNode | null, run: () => void): DueWork {
    if (Number.isNaN(milliseconds)) throw new TypeError('A wait must have a number of milliseconds.');
    this.#orders += 1;
    // In steps that sums and differences have exactly: otherwise a wait may end a moment too early, again and again.
    const at = Math.ceil((this.now + Math.max(0, milliseconds)) * stepsPerMs) / stepsPerMs;
    const work: DueWork = { at, order: this.#orders, node, run, isCancelled: false, isUnreferenced: false };
    let low = 0;
    let high = this.#due.length;
    // The next work is last, where it costs least to take.
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#due[middle] as DueWork;
      if (other.at > at) low = middle + 1;
      else high = middle;
    }
    this.#due.splice(low, 0, work);
    return work;
  }

  #takeDueUpTo(until: number): DueWork | null {
    for (let next = this.#due.at(-1); next !== undefined && next.at <= until; next = this.#due.at(-1)) {
      this.#due.pop();
      if (!next.isCancelled && next.node?.state !== 'dead') return next;
    }
    return null;
  }

  #run(work: DueWork): void {
    if (work.node?.state === 'frozen') work.node.late.push(work);
    else work.run();
  }
}

function cancel(timer: Timer | null | undefined): void {
  if (timer instanceof SimulatedTimer) timer.work.isCancelled = true;
}
