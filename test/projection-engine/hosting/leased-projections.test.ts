import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { runProjectionsUnderLease } from '#projection-engine/hosting/leased-projections.ts';
import type { PositionsReader } from '#projection-engine/progress/published-positions.ts';
import { openMongoDbReadStore } from '#read-store/mongodb/mongodb-read-store.ts';
import { openMongoDbReadStoreWriter } from '#read-store/mongodb/mongodb-read-store-writer.ts';
import type { ReadStore } from '#read-store/read-store.ts';
import { eventually, InMemoryEventStore } from '#test/support/fakes/in-memory-event-store.ts';
import { InMemoryLeaseStore } from '#test/support/fakes/in-memory-lease-store.ts';
import { long } from '#test/support/run/long.ts';
import { describeOnMongoDb } from '#test/support/service/ferretdb.ts';
import { documentsFromZero, documentsOf, flowsAndVersions, history } from './flows-and-versions.ts';

const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

describeOnMongoDb('projections under a lease', (server) => {
  let url: string;
  let events: InMemoryEventStore;
  let reader: ReadStore & PositionsReader;
  let opened: AsyncDisposableStack;

  beforeEach(() => {
    url = server.newUrl();
    events = new InMemoryEventStore();
    reader = openMongoDbReadStore({ url });
    opened = new AsyncDisposableStack();
    opened.defer(() => reader.close());
  });
  afterEach(() => opened.disposeAsync());

  /** Waits until other nodes are told that everything has been projected. */
  const told = async () => {
    const end = await events.lastPosition();
    await eventually('the positions are told', async () => {
      const { ready = false, projections = [] } = (await reader.positions()) ?? {};
      return ready && projections.every(({ position }) => position >= end);
    });
  };
  const assertAsFromZero = async () => {
    assert.deepEqual(await documentsOf(reader), await documentsFromZero(events));
  };

  describe('in one process', () => {
    let leases: InMemoryLeaseStore;
    beforeEach(() => {
      leases = new InMemoryLeaseStore();
    });

    const run = (holder: string, open = openMongoDbReadStoreWriter) => {
      const ending = new AbortController();
      const terms: number[] = [];
      const ended = runProjectionsUnderLease({
        projections: flowsAndVersions,
        events,
        leases,
        holder,
        openWriter: (fence) => {
          terms.push(fence);
          return open({ url, fence });
        },
        log: quiet,
        signal: ending.signal,
      });
      const stop = async () => {
        ending.abort();
        await ended;
      };
      opened.defer(stop);
      return { terms, stop };
    };

    it('tells other nodes after each batch where they stand, and that they live when nothing happens', async () => {
      events.append(...history(40));
      run('one');
      await told();
      const before = await reader.positions();
      assert.deepEqual(
        before?.projections.map(({ name, live }) => [name, live]),
        [
          ['flows', true],
          ['versions', true],
        ],
      );
      events.append(...history(40, 40));
      await told();
      const after = await reader.positions();
      await eventually('another beat', async () => (await reader.positions())?.beat !== after?.beat);
      assert.deepEqual((await reader.positions())?.projections, after?.projections);
      await assertAsFromZero();
    });

    it('go on at another node when one ends', async () => {
      events.append(...history(40));
      const one = run('one');
      await told();
      const other = run('other');
      await one.stop();
      events.append(...history(40, 40));
      await told();
      assert.deepEqual([one.terms, other.terms], [[1], [2]]);
      await assertAsFromZero();
    });

    it('tell nothing when they end before they know where they stand', async () => {
      events.append(...history(40));
      const one = run('one');
      await told();
      await one.stop();
      const before = await reader.positions();
      const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
      const silent = run('silent', (options) =>
        Object.assign(openMongoDbReadStoreWriter(options), {
          generations: () => {
            ask();
            return new Promise<never>(() => undefined);
          },
        }),
      );
      await asked;
      await silent.stop();
      assert.deepEqual([silent.terms, await reader.positions()], [[2], before]);
    });

    it('begin a new term when they were superseded', async () => {
      const one = run('one');
      await told();
      const intruder = openMongoDbReadStoreWriter({ url, fence: 3 });
      opened.defer(() => intruder.close());
      await intruder.savePositions({ ready: false, projections: [] });
      for (const { name } of flowsAndVersions) await intruder.generations(name);
      events.append(...history(40));
      await told();
      assert.equal(one.terms.at(-1), 3);
      await assertAsFromZero();
    });
  });

  describe('in many processes', () => {
    const start = (holder: string) => {
      const node = new NodeProcess(url, holder);
      opened.defer(() => node.kill());
      return node;
    };
    const grow = (nodes: ReadonlyArray<NodeProcess>, count: number) => {
      events.append(...history(count, events.events.length));
      for (const node of nodes) node.tell(`${events.events.length}`);
    };

    it(`equal a rebuild from zero after kill -9 in the middle of a batch, again and again ${long}`, async () => {
      let [holder, waiting] = [start('node 0'), start('node 1')];
      await eventually('one holds the lease', () => holder.terms + waiting.terms > 0);
      if (waiting.terms > 0) [holder, waiting] = [waiting, holder];
      for (let round = 1; round <= 3; round += 1) {
        grow([holder, waiting], 400);
        const before = (await reader.positions())?.projections[0]?.position ?? 0;
        await eventually('it has begun to project', async () => {
          const { projections } = (await reader.positions()) ?? { projections: [] };
          return projections.some(({ position }) => position > before) || (await someDocument(reader));
        });
        grow([holder, waiting], 400);
        await holder.kill();
        await eventually('the other holds the lease', () => waiting.terms > 0);
        [holder, waiting] = [waiting, start(`node ${round + 1}`)];
        waiting.tell(`${events.events.length}`);
      }
      await told();
      await assertAsFromZero();
    });

    it('equal a rebuild from zero after a node was frozen past its lease and has woken', async () => {
      const frozen = start('frozen');
      await eventually('it holds the lease', () => frozen.terms === 1);
      const awake = start('awake');
      grow([frozen, awake], 300);
      await told();
      // What it is told now it takes up when it wakes, in the belief that the lease is still its own.
      grow([frozen], 100);
      frozen.signal('SIGSTOP');
      await eventually('the other holds the lease', () => awake.terms === 1);
      awake.tell(`${events.events.length}`);
      await told();
      frozen.signal('SIGCONT');
      await eventually('it knows that it has lost it', () => /could not be renewed|taken by|cut off/.test(frozen.said));
      grow([frozen, awake], 100);
      await told();
      assert.deepEqual([frozen.terms, awake.terms], [1, 1]);
      await assertAsFromZero();
      frozen.end();
      await eventually('it ends', () => frozen.said.endsWith('ended\n'));
    });
  });
});

async function someDocument(reader: ReadStore): Promise<boolean> {
  return (await documentsOf(reader).catch(() => [])).some(({ documents }) => documents.length > 0);
}

/** A process that runs `projecting-process.ts`. */
class NodeProcess {
  readonly #child: ChildProcess;
  said = '';

  constructor(url: string, holder: string) {
    const script = fileURLToPath(new URL('./projecting-process.ts', import.meta.url));
    this.#child = spawn(process.execPath, [script, url, holder], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#child.stdout?.on('data', (chunk) => {
      this.said += chunk;
    });
  }

  /** How many terms it has held. */
  get terms(): number {
    return this.said.match(/^term /gm)?.length ?? 0;
  }

  tell(line: string): void {
    this.#child.stdin?.write(`${line}\n`);
  }

  end(): void {
    this.#child.stdin?.end();
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }
}
