import assert from 'node:assert/strict';
import fc from 'fast-check';
import { defaultLeaseLimits } from '#leases/leases.ts';
import { NodeLeases } from '#leases/node-leases.ts';
import { underLease } from '#leases/under-lease.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';
import { InMemoryLeaseStore } from '#test/support/fakes/in-memory-lease-store.ts';
import { itInRounds } from '#test/support/run/long.ts';
import { type CallOutcome, VirtualNode, VirtualTime } from './virtual-time.ts';

const limits = defaultLeaseLimits;
const prompt: CallOutcome = { requestDelayMs: 1, responseDelayMs: 1, lost: null };
const lost: CallOutcome = { ...prompt, lost: 'request' };
/** After this time every node has seen that a term has ended, and one node has begun the next. */
const takeoverMs = limits.expireAfterMs + 2 * limits.lookIntervalMs + 50;

describe('underLease', () => {
  let time: VirtualTime;
  let store: InMemoryLeaseStore;
  let nodes: Node[];

  beforeEach(() => {
    time = new VirtualTime();
    store = new InMemoryLeaseStore();
    nodes = [];
  });
  // No work may run after a test, even after a failed one.
  afterEach(async () => {
    for (const node of nodes) {
      node.outcome = () => prompt;
      node.machine.thaw();
      node.stop();
    }
    await time.pass(60_000);
    await Promise.all(nodes.map(({ ended }) => ended.catch(() => undefined)));
  });

  const start = (holder: string, options: NodeOptions = {}) => {
    const node = new Node(time, store, holder, options);
    nodes.push(node);
    return node;
  };
  const working = () => nodes.filter((node) => node.working).map(({ holder }) => holder);
  /** Two nodes, of which the first holds the lease. */
  const two = async (options: NodeOptions = {}) => {
    const first = start('first', options);
    await time.pass(10);
    const second = start('second');
    await time.pass(5000);
    assert.deepEqual([working(), first.tokens, second.tokens], [['first'], [1], []]);
    return { first, second };
  };

  it('runs the work on one node for as long as the lease is renewed', async () => {
    start('one');
    start('two');
    start('three');
    for (let second = 0; second < 60; second += 1) {
      await time.pass(1000);
      assert.equal(working().length, 1);
    }
    assert.deepEqual(
      nodes.flatMap(({ tokens }) => tokens),
      [1],
    );
  });

  it('runs the work on another node when its holder is frozen, and stops it on the holder when that wakes', async () => {
    const { first, second } = await two();
    first.machine.freeze();
    await time.pass(takeoverMs);
    assert.deepEqual(second.tokens, [2]);
    first.machine.thaw();
    await time.pass(0);
    assert.deepEqual(working(), ['second']);
    await time.pass(10_000);
    assert.deepEqual([working(), first.tokens], [['second'], [1]]);
  });

  it('stops the work of a holder that can no longer renew before another node starts it', async () => {
    const { first, second } = await two();
    first.outcome = () => lost;
    const givenUpMs = 0.8 * limits.expireAfterMs;
    await time.pass(givenUpMs);
    assert.deepEqual([first.working, second.tokens], [false, []]);
    await time.pass(takeoverMs - givenUpMs);
    assert.deepEqual(working(), ['second']);
    first.outcome = () => prompt;
    await time.pass(10_000);
    assert.deepEqual([working(), first.tokens], [['second'], [1]]);
  });

  it('continues the work when some renewals fail but one succeeds in time', async () => {
    const { first } = await two();
    const slow = { ...prompt, requestDelayMs: 25, responseDelayMs: 25 };
    first.outcome = () => (time.now % 1000 < 200 ? lost : slow);
    await time.pass(120_000);
    assert.deepEqual([working(), first.tokens], [['first'], [1]]);
  });

  it('starts the work on another node at once after a release, and not before it has ended', async () => {
    const { first, second } = await two({ windDownMs: 3000 });
    first.stop();
    await time.pass(2900);
    assert.deepEqual(second.tokens, []);
    await time.pass(100 + limits.lookIntervalMs + 50);
    assert.deepEqual(working(), ['second']);
    await first.ended;
  });

  it('waits for a store that is down, logs it once, and starts the work when the store is up', async () => {
    const first = start('first');
    first.outcome = () => lost;
    await time.pass(60_000);
    assert.deepEqual([first.tokens, first.warnings.length], [[], 1]);
    first.outcome = () => prompt;
    await time.pass(2100);
    assert.deepEqual(first.tokens, [1]);
    assert.match(first.infos.join(), /can be used again/);
    first.outcome = () => lost;
    await time.pass(limits.expireAfterMs);
    assert.equal(first.working, false);
    await time.pass(60_000);
    first.outcome = () => prompt;
    await time.pass(takeoverMs + 2000);
    assert.deepEqual([first.working, first.tokens], [true, [1, 2]]);
  });

  it('stops in time although the store is down', async () => {
    const first = start('first');
    await time.pass(1000);
    first.outcome = () => lost;
    first.stop();
    await time.pass(limits.expireAfterMs);
    assert.equal(first.settled, true);
    const waiting = start('waiting');
    waiting.outcome = () => lost;
    await time.pass(3000);
    waiting.stop();
    await time.pass(1000);
    assert.equal(waiting.settled, true);
  });

  it('begins a new term when a store refuses the work’s fencing token', async () => {
    let refusals = 3;
    const node = start('node', {
      work: async () => {
        refusals -= 1;
        if (refusals >= 0) throw new FencedError('Somebody else writes it now.');
      },
    });
    await time.pass(5000);
    assert.deepEqual([node.working, node.tokens], [true, [1, 2, 3, 4]]);
  });

  it('releases the lease and rejects when the work fails', async () => {
    const failing = start('failing', { work: () => Promise.reject(new Error('It is broken.')) });
    await time.pass(100);
    await assert.rejects(failing.ended, /It is broken/);
    assert.equal(failing.signals[0]?.aborted, true, 'what the work has left behind ends');
    const next = start('next');
    await time.pass(100);
    assert.deepEqual(next.tokens, [2]);
  });

  it('rejects when the work ends without being stopped', async () => {
    const ending = start('ending', { work: async () => 'end' });
    await time.pass(100);
    await assert.rejects(ending.ended, /ended unexpectedly/);
  });

  it('ignores an error of work that was stopped', async () => {
    const { first, second } = await two({ failsAtItsEnd: true });
    first.machine.freeze();
    await time.pass(takeoverMs);
    first.machine.thaw();
    await time.pass(1000);
    assert.deepEqual([first.settled, second.working], [false, true]);
    second.stop();
    await time.pass(1000);
    assert.deepEqual([first.working, first.tokens], [true, [1, 3]]);
    first.stop();
    await time.pass(1000);
    await first.ended;
  });

  itInRounds(
    'never runs the work on two nodes that are awake or twice with one token, and resumes it after any failures',
    { few: 60, many: 1_000 },
    async (numRuns) => {
      await fc.assert(
        fc.asyncProperty(faultPlanOf(3), async (plan) => {
          const run = new FaultRun(plan);
          await run.play();
        }),
        { numRuns },
      );
    },
  );
});

interface NodeOptions {
  /** Runs first. The work then continues until its signal aborts, unless this rejects or returns `end`. */
  readonly work?: () => Promise<unknown>;
  readonly windDownMs?: number;
  readonly failsAtItsEnd?: boolean;
  readonly rate?: number;
  readonly random?: () => number;
  readonly onWork?: (node: Node) => void;
}

/** A node that competes for the work. */
class Node {
  readonly machine: VirtualNode;
  readonly holder: string;
  readonly tokens: number[] = [];
  readonly signals: AbortSignal[] = [];
  readonly warnings: string[] = [];
  readonly infos: string[] = [];
  readonly ended: Promise<void>;
  outcome: () => CallOutcome = () => prompt;
  working = false;
  settled = false;
  readonly #stopped = new AbortController();
  readonly #options: NodeOptions;

  constructor(time: VirtualTime, leases: InMemoryLeaseStore, holder: string, options: NodeOptions) {
    const { rate = 1, random = () => 1 } = options;
    this.#options = options;
    this.holder = holder;
    this.machine = new VirtualNode({ time, leases, rate, random, outcome: () => this.outcome() });
    this.ended = underLease({
      name: 'work',
      holder,
      leases: new NodeLeases({ store: this.machine.leases, clock: this.machine }),
      log: {
        info: (_, message) => this.infos.push(message),
        warn: (_, message) => this.warnings.push(message),
        error: (_, message) => assert.fail(message),
      },
      signal: this.#stopped.signal,
      work: ({ token, signal }) => this.#work(token, signal),
      clock: this.machine,
    });
    const settle = () => {
      this.settled = true;
    };
    this.ended.then(settle, settle);
  }

  stop(): void {
    this.#stopped.abort();
  }

  async #work(token: number, signal: AbortSignal): Promise<void> {
    const { work = async () => undefined, windDownMs = 0, failsAtItsEnd = false, onWork } = this.#options;
    this.tokens.push(token);
    this.signals.push(signal);
    onWork?.(this);
    if ((await work()) === 'end') return;
    this.working = true;
    await aborted(signal);
    this.working = false;
    await this.machine.pause(windDownMs, new AbortController().signal);
    if (failsAtItsEnd) throw new Error('It was torn off.');
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

/** The faults of the nodes, and their times. */
interface FaultPlan {
  readonly seed: number;
  readonly rates: ReadonlyArray<number>;
  readonly faults: ReadonlyArray<{
    readonly node: number;
    readonly kind: 'freeze' | 'thaw' | 'cut off' | 'connect' | 'restart';
    readonly afterMs: number;
  }>;
}

function faultPlanOf(count: number): fc.Arbitrary<FaultPlan> {
  return fc.record({
    seed: fc.nat(),
    rates: fc.array(fc.double({ min: 0.95, max: 1.05, noNaN: true }), { minLength: count, maxLength: count }),
    faults: fc.array(
      fc.record({
        node: fc.nat(count - 1),
        kind: fc.constantFrom('freeze', 'thaw', 'cut off', 'connect', 'restart'),
        afterMs: fc.nat(2500),
      }),
      { maxLength: 20 },
    ),
  });
}

/** Runs the faults, and checks every start of the work. */
class FaultRun {
  readonly #time = new VirtualTime();
  readonly #store = new InMemoryLeaseStore();
  readonly #plan: FaultPlan;
  readonly #nodes: Node[] = [];
  readonly #stopped: Node[] = [];
  readonly #cutOff = new Set<number>();
  readonly #tokens: number[] = [];
  readonly #violations: string[] = [];
  #random: number;
  #quiet = false;

  constructor(plan: FaultPlan) {
    this.#plan = plan;
    this.#random = plan.seed;
    for (const index of plan.rates.keys()) this.#start(index);
  }

  async play(): Promise<void> {
    for (const { node, kind, afterMs } of this.#plan.faults) {
      await this.#time.pass(afterMs);
      this.#apply(node, kind);
    }
    await this.#recoverAll();
    assert.deepEqual(this.#violations, []);
    assert.deepEqual(
      this.#tokens,
      [...new Set(this.#tokens)].sort((one, other) => one - other),
    );
  }

  #apply(index: number, kind: FaultPlan['faults'][number]['kind']): void {
    const machine = this.#nodes[index]?.machine;
    if (kind === 'freeze') machine?.freeze();
    else if (kind === 'thaw') machine?.thaw();
    else if (kind === 'cut off') this.#cutOff.add(index);
    else if (kind === 'connect') this.#cutOff.delete(index);
    else this.#restart(index);
  }

  async #recoverAll(): Promise<void> {
    this.#cutOff.clear();
    this.#quiet = true;
    for (const { machine } of this.#nodes) machine.thaw();
    // A lost call is given up after one second, and the longest wait lasts one second too.
    await this.#time.pass(2000 + 1.1 * takeoverMs);
    assert.equal(this.#nodes.filter((node) => node.working).length, 1, 'one works once all is well');
    for (const node of this.#nodes) node.stop();
    await this.#time.pass(5000);
    const unsettled = [...this.#nodes, ...this.#stopped].filter((node) => !node.settled);
    assert.deepEqual(
      unsettled.map(({ holder }) => holder),
      [],
    );
  }

  #start(index: number): void {
    const node: Node = new Node(this.#time, this.#store, `node ${index}`, {
      rate: this.#plan.rates[index] ?? 1,
      random: () => this.#next(),
      windDownMs: this.#next() * 3000,
      onWork: () => this.#look(node),
    });
    node.outcome = () => this.#outcomeOf(index);
    this.#nodes[index] = node;
  }

  /** Restarts a node as an operator would; a frozen one stops when it wakes. */
  #restart(index: number): void {
    const node = this.#nodes[index];
    if (node === undefined) return;
    node.machine.thaw();
    node.stop();
    this.#stopped.push(node);
    this.#start(index);
  }

  #look(beginning: Node): void {
    this.#tokens.push(beginning.tokens.at(-1) ?? 0);
    for (const other of this.#nodes) {
      if (other === beginning || !other.working || !other.machine.awake) continue;
      this.#violations.push(`at ${this.#time.now} ${beginning.holder} begins while ${other.holder} works`);
    }
  }

  #outcomeOf(index: number): CallOutcome {
    if (this.#quiet) return prompt;
    if (this.#cutOff.has(index)) return lost;
    const [there, back, luck] = [this.#next() * 150, this.#next() * 150, this.#next()];
    const lostMessage = luck < 0.05 ? 'request' : luck < 0.1 ? 'answer' : null;
    return { requestDelayMs: there, responseDelayMs: back, lost: lostMessage };
  }

  /** From 0 to 1, the same for the same seed: a linear congruential generator, whose high bits are good enough. */
  #next(): number {
    this.#random = (Math.imul(this.#random, 1664525) + 1013904223) >>> 0;
    return this.#random / 2 ** 32;
  }
}
