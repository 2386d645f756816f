import assert from 'node:assert/strict';
import fc from 'fast-check';
import { underLease } from '#leases/under-lease.ts';
import { FencedError } from '#shared/errors/fenced-error.ts';
import { InMemoryLeaseStore } from '#test/support/fakes/in-memory-lease-store.ts';
import { itInRounds } from '#test/support/run/long.ts';
import { type CallFate, VirtualNode, VirtualTime } from './virtual-time.ts';

const limits = { renewMilliseconds: 400, expireMilliseconds: 1500, lookMilliseconds: 250 };
const prompt: CallFate = { thereMilliseconds: 1, backMilliseconds: 1, lost: null };
const lost: CallFate = { ...prompt, lost: 'request' };
/** By then every node has seen that a term is over, and one has begun the next. */
const takeOverMilliseconds = limits.expireMilliseconds + 2 * limits.lookMilliseconds + 50;

describe('work under a lease', () => {
  let time: VirtualTime;
  let store: InMemoryLeaseStore;
  let nodes: Node[];

  beforeEach(() => {
    time = new VirtualTime();
    store = new InMemoryLeaseStore();
    nodes = [];
  });
  // Nothing goes on after a test, however it ended.
  afterEach(async () => {
    for (const node of nodes) {
      node.fate = () => prompt;
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

  it('is done by one node, however long and however many wait', async () => {
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

  it('goes on at another node when its holder is frozen, and ends at that one when it wakes', async () => {
    const { first, second } = await two();
    first.machine.freeze();
    await time.pass(takeOverMilliseconds);
    assert.deepEqual(second.tokens, [2]);
    first.machine.thaw();
    await time.pass(0);
    assert.deepEqual(working(), ['second']);
    await time.pass(10_000);
    assert.deepEqual([working(), first.tokens], [['second'], [1]]);
  });

  it('ends before another goes on when its holder can renew no more', async () => {
    const { first, second } = await two();
    first.fate = () => lost;
    await time.pass(limits.expireMilliseconds);
    assert.deepEqual([first.working, second.tokens], [false, []]);
    await time.pass(takeOverMilliseconds - limits.expireMilliseconds);
    assert.deepEqual(working(), ['second']);
    first.fate = () => prompt;
    await time.pass(10_000);
    assert.deepEqual([working(), first.tokens], [['second'], [1]]);
  });

  it('goes on when some renewals fail, as long as one comes in time', async () => {
    const { first } = await two();
    const fates = [lost, { ...prompt, backMilliseconds: 350 }, lost, { ...prompt, thereMilliseconds: 350 }];
    let calls = 0;
    first.fate = () => {
      calls += 1;
      return fates[calls % fates.length] ?? prompt;
    };
    await time.pass(30_000);
    assert.deepEqual([working(), first.tokens], [['first'], [1]]);
  });

  it('goes on at another node at once when it was released, and not before it has ended', async () => {
    const { first, second } = await two({ windDownMilliseconds: 3000 });
    first.stop();
    await time.pass(2900);
    assert.deepEqual(second.tokens, []);
    await time.pass(100 + limits.lookMilliseconds + 50);
    assert.deepEqual(working(), ['second']);
    await first.ended;
  });

  it('waits for a store that is down, says so once, and goes on when it is up', async () => {
    const first = start('first');
    first.fate = () => lost;
    await time.pass(60_000);
    assert.deepEqual([first.tokens, first.warnings.length], [[], 1]);
    first.fate = () => prompt;
    await time.pass(2100);
    assert.deepEqual(first.tokens, [1]);
    assert.match(first.infos.join(), /can be used again/);
    first.fate = () => lost;
    await time.pass(limits.expireMilliseconds);
    assert.equal(first.working, false);
    await time.pass(60_000);
    first.fate = () => prompt;
    await time.pass(takeOverMilliseconds + 2000);
    assert.deepEqual([first.working, first.tokens], [true, [1, 2]]);
  });

  it('ends in time though the store is down', async () => {
    const first = start('first');
    await time.pass(1000);
    first.fate = () => lost;
    first.stop();
    await time.pass(limits.expireMilliseconds);
    assert.equal(first.settled, true);
    const waiting = start('waiting');
    waiting.fate = () => lost;
    await time.pass(3000);
    waiting.stop();
    await time.pass(1000);
    assert.equal(waiting.settled, true);
  });

  it('begins anew when its work was superseded', async () => {
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

  it('releases the lease and rejects when its work fails', async () => {
    const failing = start('failing', { work: () => Promise.reject(new Error('It is broken.')) });
    await time.pass(100);
    await assert.rejects(failing.ended, /It is broken/);
    const next = start('next');
    await time.pass(100);
    assert.deepEqual(next.tokens, [2]);
  });

  it('rejects when its work ends by itself', async () => {
    const ending = start('ending', { work: async () => 'end' });
    await time.pass(100);
    await assert.rejects(ending.ended, /ended by itself/);
  });

  it('is content with work that fails because it was told to end', async () => {
    const { first, second } = await two({ failsAtItsEnd: true });
    first.machine.freeze();
    await time.pass(takeOverMilliseconds);
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
    'is never done by two nodes that are awake, nor twice with one token, whatever fails; and goes on after it',
    { few: 60, many: 1_000 },
    async (numRuns) => {
      await fc.assert(
        fc.asyncProperty(storyOf(3), async (story) => {
          const run = new StoryRun(story);
          await run.play();
        }),
        { numRuns },
      );
    },
  );
});

interface NodeOptions {
  /** What it does first: it goes on until its signal aborts, unless this rejects or gives `end`. */
  readonly work?: () => Promise<unknown>;
  readonly windDownMilliseconds?: number;
  readonly failsAtItsEnd?: boolean;
  readonly rate?: number;
  readonly random?: () => number;
  readonly onWork?: (node: Node) => void;
}

/** A node that wants to do the work. */
class Node {
  readonly machine: VirtualNode;
  readonly holder: string;
  readonly tokens: number[] = [];
  readonly warnings: string[] = [];
  readonly infos: string[] = [];
  readonly ended: Promise<void>;
  fate: () => CallFate = () => prompt;
  working = false;
  settled = false;
  readonly #stopped = new AbortController();
  readonly #options: NodeOptions;

  constructor(time: VirtualTime, leases: InMemoryLeaseStore, holder: string, options: NodeOptions) {
    const { rate = 1, random = () => 1 } = options;
    this.#options = options;
    this.holder = holder;
    this.machine = new VirtualNode({ time, leases, rate, random, fate: () => this.fate() });
    this.ended = underLease({
      name: 'work',
      holder,
      leases: this.machine.leases,
      log: {
        info: (_, message) => this.infos.push(message),
        warn: (_, message) => this.warnings.push(message),
        error: (_, message) => assert.fail(message),
      },
      signal: this.#stopped.signal,
      work: (token, signal) => this.#work(token, signal),
      limits,
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
    const { work = async () => undefined, windDownMilliseconds = 0, failsAtItsEnd = false, onWork } = this.#options;
    this.tokens.push(token);
    onWork?.(this);
    if ((await work()) === 'end') return;
    this.working = true;
    await aborted(signal);
    this.working = false;
    await this.machine.pause(windDownMilliseconds, new AbortController().signal);
    if (failsAtItsEnd) throw new Error('It was torn off.');
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

/** What befalls the nodes, and when. */
interface Story {
  readonly seed: number;
  readonly rates: ReadonlyArray<number>;
  readonly turns: ReadonlyArray<{
    readonly node: number;
    readonly kind: 'freeze' | 'thaw' | 'cut off' | 'connect' | 'restart';
    readonly afterMilliseconds: number;
  }>;
}

function storyOf(count: number): fc.Arbitrary<Story> {
  return fc.record({
    seed: fc.nat(),
    rates: fc.array(fc.double({ min: 0.95, max: 1.05, noNaN: true }), { minLength: count, maxLength: count }),
    turns: fc.array(
      fc.record({
        node: fc.nat(count - 1),
        kind: fc.constantFrom('freeze', 'thaw', 'cut off', 'connect', 'restart'),
        afterMilliseconds: fc.nat(2500),
      }),
      { maxLength: 20 },
    ),
  });
}

/** Plays a story, and looks at every beginning of the work. */
class StoryRun {
  readonly #time = new VirtualTime();
  readonly #store = new InMemoryLeaseStore();
  readonly #story: Story;
  readonly #nodes: Node[] = [];
  readonly #stopped: Node[] = [];
  readonly #cutOff = new Set<number>();
  readonly #tokens: number[] = [];
  readonly #wrongs: string[] = [];
  #random: number;
  #quiet = false;

  constructor(story: Story) {
    this.#story = story;
    this.#random = story.seed;
    for (const index of story.rates.keys()) this.#start(index);
  }

  async play(): Promise<void> {
    for (const { node, kind, afterMilliseconds } of this.#story.turns) {
      await this.#time.pass(afterMilliseconds);
      this.#turn(node, kind);
    }
    await this.#endInPeace();
    assert.deepEqual(this.#wrongs, []);
    assert.deepEqual(
      this.#tokens,
      [...new Set(this.#tokens)].sort((one, other) => one - other),
    );
  }

  #turn(index: number, kind: Story['turns'][number]['kind']): void {
    const machine = this.#nodes[index]?.machine;
    if (kind === 'freeze') machine?.freeze();
    else if (kind === 'thaw') machine?.thaw();
    else if (kind === 'cut off') this.#cutOff.add(index);
    else if (kind === 'connect') this.#cutOff.delete(index);
    else this.#restart(index);
  }

  async #endInPeace(): Promise<void> {
    this.#cutOff.clear();
    this.#quiet = true;
    for (const { machine } of this.#nodes) machine.thaw();
    // A call that was lost before is given up after a second, and the longest wait is as long.
    await this.#time.pass(2000 + 1.1 * takeOverMilliseconds);
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
      rate: this.#story.rates[index] ?? 1,
      random: () => this.#next(),
      windDownMilliseconds: this.#next() * 3000,
      onWork: () => this.#look(node),
    });
    node.fate = () => this.#fate(index);
    this.#nodes[index] = node;
  }

  /** As an operator would; a frozen one stops when it wakes. */
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
      this.#wrongs.push(`at ${this.#time.now} ${beginning.holder} begins while ${other.holder} works`);
    }
  }

  #fate(index: number): CallFate {
    if (this.#quiet) return prompt;
    if (this.#cutOff.has(index)) return lost;
    const [there, back, luck] = [this.#next() * 150, this.#next() * 150, this.#next()];
    const fate = luck < 0.05 ? 'request' : luck < 0.1 ? 'answer' : null;
    return { thereMilliseconds: there, backMilliseconds: back, lost: fate };
  }

  /** From 0 to 1, the same for the same seed: a linear congruential generator, whose high bits are good enough. */
  #next(): number {
    this.#random = (Math.imul(this.#random, 1664525) + 1013904223) >>> 0;
    return this.#random / 2 ** 32;
  }
}
