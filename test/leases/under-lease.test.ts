import assert from 'node:assert/strict';
import fc from 'fast-check';
import { defaultLeaseLimits } from '#leases/leases.ts';
import { NodeLeases } from '#leases/node-leases.ts';
import { minExpiryMs } from '#leases/round-times.ts';
import type { Term } from '#leases/term.ts';
import { underLease } from '#leases/under-lease.ts';
import { aborted, delay } from '#shared/async/timed-waits.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';
import { InMemoryLeaseStore } from '#test/support/fakes/in-memory-lease-store.ts';
import { itInRounds } from '#test/support/run/long.ts';
import { Random } from '#test/worlds/random.ts';
import { SimulatedNode, SimulatedTime } from '#test/worlds/simulated-time.ts';
import { type CallOutcome, type LeaseCall, lost, SlowLeaseStore, taking } from './slow-lease-store.ts';

const limits = defaultLeaseLimits;
const prompt = taking(2);
/** After this time every node has seen that a term has ended, and one node has begun the next. */
const takeoverMs = minExpiryMs + 2 * limits.lookIntervalMs + 50;

describe('underLease', () => {
  let time: SimulatedTime;
  let store: InMemoryLeaseStore;
  let nodes: Node[];

  beforeEach(() => {
    time = new SimulatedTime(new Random(1)).install();
    store = new InMemoryLeaseStore();
    nodes = [];
  });
  // No work may run after a test, even after a failed one.
  afterEach(async () => {
    for (const node of nodes) {
      node.outcome = () => prompt;
      node.thaw();
      node.stop();
    }
    await time.pass(60_000);
    await Promise.all(nodes.map(({ ended }) => ended.catch(() => undefined)));
    time[Symbol.dispose]();
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
    first.freeze();
    await time.pass(takeoverMs);
    assert.deepEqual(second.tokens, [2]);
    first.thaw();
    await time.pass(0);
    assert.deepEqual(working(), ['second']);
    await time.pass(10_000);
    assert.deepEqual([working(), first.tokens], [['second'], [1]]);
  });

  it('stops the work of a holder that can no longer renew before another node starts it', async () => {
    const { first, second } = await two();
    first.outcome = () => lost;
    const givenUpMs = 0.8 * minExpiryMs;
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
    const slow = taking(50);
    first.outcome = () => (time.now % 1000 < 200 ? lost : slow);
    await time.pass(120_000);
    assert.deepEqual([working(), first.tokens], [['first'], [1]]);
  });

  it('starts the work on another node immediately after a release, and not before it has ended', async () => {
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
    // The lost calls count as slow ones for some time.
    await time.pass(30_000);
    first.outcome = () => lost;
    await time.pass(minExpiryMs);
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
    await time.pass(minExpiryMs);
    assert.equal(first.settled, true);
    const waiting = start('waiting');
    waiting.outcome = () => lost;
    await time.pass(3000);
    waiting.stop();
    await time.pass(1000);
    assert.equal(waiting.settled, true);
  });

  it('stops although the beginning of a term is not answered', async () => {
    const waiting = start('waiting');
    waiting.outcome = () => lost;
    await time.pass(20_000);
    waiting.outcome = (call) => (call === 'begin' ? lost : prompt);
    await time.pass(2_000);
    waiting.stop();
    await time.pass(500);
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
    first.freeze();
    await time.pass(takeoverMs);
    first.thaw();
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
    'never lets two nodes count on the lease, begins no term twice, and resumes the work after any failures',
    { few: 60, many: 1_000 },
    async (numRuns) => {
      await fc.assert(
        fc.asyncProperty(faultPlanOf(3), async (plan) => {
          using run = new FaultRun(plan);
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
}

/** A node that competes for the work. */
class Node {
  readonly holder: string;
  readonly tokens: number[] = [];
  readonly signals: AbortSignal[] = [];
  readonly warnings: string[] = [];
  readonly infos: string[] = [];
  readonly ended: Promise<void>;
  outcome: (call: LeaseCall) => CallOutcome = () => prompt;
  working = false;
  settled = false;
  readonly #time: SimulatedTime;
  readonly #machine: SimulatedNode;
  readonly #stopped = new AbortController();
  readonly #options: NodeOptions;
  #term: Term | null = null;

  constructor(time: SimulatedTime, store: InMemoryLeaseStore, holder: string, options: NodeOptions) {
    this.#time = time;
    this.#options = options;
    this.holder = holder;
    this.#machine = new SimulatedNode(holder, options.rate);
    const link = new SlowLeaseStore(time, store, (call) => this.outcome(call));
    this.ended = this.#run(() => this.#compete(link));
    const settle = () => {
      this.settled = true;
    };
    this.ended.then(settle, settle);
  }

  /** Whether it counts on a term now, by its own clock. */
  get isHolder(): boolean {
    return this.#run(() => this.#term?.isHeld() === true);
  }

  freeze(): void {
    this.#time.freeze(this.#machine);
  }

  thaw(): void {
    this.#time.thaw(this.#machine);
  }

  stop(): void {
    this.#stopped.abort();
  }

  #run<Result>(work: () => Result): Result {
    return this.#time.runOn(this.#machine, work);
  }

  #compete(store: SlowLeaseStore): Promise<void> {
    return underLease({
      name: 'work',
      holder: this.holder,
      leases: new NodeLeases({ store }),
      log: {
        info: (_, message) => this.infos.push(message),
        warn: (_, message) => this.warnings.push(message),
        error: (_, message) => assert.fail(message),
      },
      signal: this.#stopped.signal,
      work: (term) => this.#work(term),
    });
  }

  async #work(term: Term): Promise<void> {
    const { work = async () => undefined, windDownMs = 0, failsAtItsEnd = false } = this.#options;
    const { token, signal } = term;
    this.#term = term;
    this.tokens.push(token);
    this.signals.push(signal);
    if ((await work()) === 'end') return;
    this.working = true;
    await aborted(signal);
    this.working = false;
    await delay(windDownMs);
    if (failsAtItsEnd) throw new Error('It was torn off.');
  }
}

/** The faults of the nodes, and their times. */
interface FaultPlan {
  readonly seed: number;
  readonly rates: ReadonlyArray<number>;
  readonly faults: ReadonlyArray<{
    readonly node: number;
    readonly kind: 'freeze' | 'thaw' | 'cut off' | 'connect' | 'restart' | 'slower' | 'faster';
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
        kind: fc.constantFrom('freeze', 'thaw', 'cut off', 'connect', 'restart', 'slower', 'faster'),
        afterMs: fc.nat(2500),
      }),
      { maxLength: 20 },
    ),
  });
}

/** The times that a command takes at most. */
const latenciesMs = [20, 200, 400, 1_000] as const;

/** Runs the faults, and checks after each step that at most one node counts on a term. */
class FaultRun implements Disposable {
  readonly #time: SimulatedTime;
  readonly #random: Random;
  readonly #store = new InMemoryLeaseStore();
  readonly #plan: FaultPlan;
  readonly #nodes: Node[] = [];
  readonly #stopped: Node[] = [];
  readonly #cutOff = new Set<number>();
  #latency = 0;
  #isQuiet = false;

  constructor(plan: FaultPlan) {
    this.#plan = plan;
    this.#random = new Random(plan.seed);
    this.#time = new SimulatedTime(this.#random).install();
    for (const index of plan.rates.keys()) this.#start(index);
  }

  [Symbol.dispose](): void {
    this.#time[Symbol.dispose]();
  }

  async play(): Promise<void> {
    for (const { node, kind, afterMs } of this.#plan.faults) {
      await this.#pass(afterMs);
      this.#apply(node, kind);
    }
    await this.#recoverAll();
    const tokens = this.#all.flatMap((node) => node.tokens);
    assert.equal(new Set(tokens).size, tokens.length, `each term once: ${tokens}`);
  }

  get #all(): ReadonlyArray<Node> {
    return [...this.#nodes, ...this.#stopped];
  }

  async #pass(milliseconds: number): Promise<void> {
    await this.#time.passUntil(() => {
      const holders = this.#all.filter((node) => node.isHolder);
      assert.ok(holders.length <= 1, `at ${this.#time.now} ${holders.map(({ holder }) => holder)}`);
      return false;
    }, milliseconds);
  }

  #apply(index: number, kind: FaultPlan['faults'][number]['kind']): void {
    const node = this.#nodes[index];
    if (kind === 'freeze') node?.freeze();
    else if (kind === 'thaw') node?.thaw();
    else if (kind === 'cut off') this.#cutOff.add(index);
    else if (kind === 'connect') this.#cutOff.delete(index);
    else if (kind === 'slower') this.#latency = Math.min(this.#latency + 1, latenciesMs.length - 1);
    else if (kind === 'faster') this.#latency = Math.max(this.#latency - 1, 0);
    else this.#restart(index);
  }

  async #recoverAll(): Promise<void> {
    this.#cutOff.clear();
    this.#isQuiet = true;
    for (const node of this.#nodes) node.thaw();
    // Enough for an expiry, a few lost calls, and a pause.
    await this.#pass(20_000 + takeoverMs + 10_000);
    assert.equal(this.#nodes.filter((node) => node.working).length, 1, 'one works once all is well');
    for (const node of this.#nodes) node.stop();
    await this.#pass(30_000);
    assert.deepEqual(
      this.#all.filter((node) => !node.settled).map(({ holder }) => holder),
      [],
    );
  }

  #start(index: number): void {
    const node = new Node(this.#time, this.#store, `node ${index}`, {
      rate: this.#plan.rates[index] ?? 1,
      windDownMs: this.#random.next() * 3000,
    });
    node.outcome = () => this.#outcomeOf(index);
    this.#nodes[index] = node;
  }

  /** Restarts a node as an operator would; a frozen one stops when it wakes. */
  #restart(index: number): void {
    const node = this.#nodes[index];
    if (node === undefined) return;
    node.thaw();
    node.stop();
    this.#stopped.push(node);
    this.#start(index);
  }

  #outcomeOf(index: number): CallOutcome {
    if (this.#isQuiet) return prompt;
    if (this.#cutOff.has(index)) return lost;
    const latencyMs = latenciesMs[this.#latency] ?? 0;
    const [there, back, luck] = [this.#random.next() * latencyMs, this.#random.next() * latencyMs, this.#random.next()];
    const lostMessage = luck < 0.05 ? 'request' : luck < 0.1 ? 'answer' : null;
    return { requestDelayMs: there, answerDelayMs: back, lost: lostMessage };
  }
}
