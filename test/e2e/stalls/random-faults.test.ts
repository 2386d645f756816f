import assert from 'node:assert/strict';
import { expectConsistent, expectVerified } from '#test/e2e/support/consistent-stores.ts';
import { long } from '#test/support/run/long.ts';
import type { MongoDbProcess } from '#test/support/service/mongodb-process.ts';
import { describeOnOwnMongoDb, startOwnMongoDb } from '#test/support/service/mongodb-server.ts';
import { Random } from '#test/worlds/random.ts';
import { expectReactions } from './expect-reactions.ts';
import { FaultyNodes } from './faulty-nodes.ts';
import { nodeFaults } from './node-faults.ts';
import { Reactions } from './reactions.ts';
import { report } from './report.ts';

/** Repeats a run. */
const seed = Number(process.env.STALL_SEED ?? Math.floor(Math.random() * 1e9));
const rounds = Number(process.env.STALL_ROUNDS ?? 36);
/** Pairs of nodes that run at the same time, because they mostly wait. */
const pairs = 2;
const linesOfBatch = 20;
/** After the end of a fault. */
const reactionMs = 30_000;
const maxRepeatedShare = 0.05;

/** Two nodes through some rounds of faults. @param name of the pair in errors */
class Rounds {
  readonly done: string[] = [];
  readonly #name: string;
  readonly #random: Random;
  readonly #nodes: FaultyNodes;
  readonly #reactions: Reactions;

  private constructor(name: string, random: Random, nodes: FaultyNodes, reactions: Reactions) {
    this.#name = name;
    this.#random = random;
    this.#nodes = nodes;
    this.#reactions = reactions;
  }

  static async begin(pair: number, mongoDb: MongoDbProcess): Promise<Rounds> {
    const nodes = await FaultyNodes.start(mongoDb, 2);
    return new Rounds(`pair ${pair}`, new Random(seed + pair), nodes, await Reactions.begin(nodes, linesOfBatch));
  }

  async run(count: number): Promise<void> {
    try {
      while (this.done.length < count) await this.#round();
      await expectConsistent(this.#nodes.urls, this.#reactions.any.acknowledged);
      await expectVerified(this.#nodes.urls);
    } catch (error) {
      const { message } = error as Error;
      throw new Error(`STALL_SEED=${seed} ${this.#name}:\n${this.done.join('\n')}\n${message}`, { cause: error });
    }
  }

  get repeatedLines(): { readonly asked: number; readonly repeated: number } {
    return this.#nodes.provider;
  }

  end(): Promise<void> {
    return this.#nodes.end();
  }

  async #round(): Promise<void> {
    const random = this.#random;
    const names = [
      random.pick(Object.keys(nodeFaults)),
      ...(random.isTrue(0.25) ? [random.pick(Object.keys(nodeFaults))] : []),
    ];
    const round = `round ${this.done.length + 1}: ${names.join(', then ')}`;
    this.done.push(round);
    const preparation = await this.#reactions.prepare();
    const [expected] = await Promise.all([this.#reactions.act(preparation), this.#disturb(names)]);
    const took = await expectReactions(this.#nodes, expected, reactionMs);
    this.done[this.done.length - 1] = `${round}: ${took} ms`;
  }

  async #disturb(names: ReadonlyArray<string>): Promise<void> {
    for (const name of names) await nodeFaults[name]?.(this.#nodes, this.#random);
  }
}

describeOnOwnMongoDb('nodes of the service under random faults', (mongoDb) => {
  it(`react within 30 s after each fault, lose nothing, and repeat few lines of batches ${long}`, async function () {
    this.timeout(60_000 + rounds * 60_000);
    const opened = new AsyncDisposableStack();
    try {
      const servers = [mongoDb];
      while (servers.length < pairs) {
        const other = await startOwnMongoDb({ syncOnCommit: true });
        opened.defer(() => other.dispose());
        servers.push(other);
      }
      const running = await Promise.all(
        servers.map(async (each, pair) => {
          const begun = await Rounds.begin(pair, each);
          opened.defer(() => begun.end());
          return begun;
        }),
      );
      const outcomes = await Promise.allSettled(running.map((each) => each.run(Math.ceil(rounds / pairs))));
      const counts = running.map(({ repeatedLines: { asked, repeated } }) => ({ asked, repeated }));
      const sum = (of: 'asked' | 'repeated') => counts.reduce((total, count) => total + count[of], 0);
      for (const { done } of running) report(done.join('\n'));
      report(JSON.stringify(counts));
      const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [String(outcome.reason)] : []));
      assert.equal(failures.length, 0, failures.join('\n'));
      assert.ok(sum('repeated') <= maxRepeatedShare * sum('asked'), JSON.stringify(counts));
    } finally {
      await opened.disposeAsync();
    }
  });
});
