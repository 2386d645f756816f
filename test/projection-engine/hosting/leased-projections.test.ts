import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { nothingRead } from '#domain/shared/log-mark.ts';
import { NodeLeases } from '#leases/node-leases.ts';
import { runProjectionsUnderLease } from '#projection-engine/hosting/leased-projections.ts';
import type { ReadStoreNotes } from '#read-store/notes.ts';
import type { ReadStore } from '#read-store/read-store.ts';
import { InMemoryEventStore } from '#test/support/fakes/in-memory-event-store.ts';
import { InMemoryLeaseStore } from '#test/support/fakes/in-memory-lease-store.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { long } from '#test/support/run/long.ts';
import { openMongoDbReadStore, openMongoDbReadStoreWriter } from '#test/support/service/mongodb-read-store.ts';
import { describeOnMongoDb } from '#test/support/service/mongodb-server.ts';
import { documentsFromZero, documentsOf, flowsAndVersions, history } from './flows-and-versions.ts';

/** Long, because these tests check results and not times. */
const timeoutMs = 60_000;
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

describeOnMongoDb('runProjectionsUnderLease', (server) => {
  let url: string;
  let events: InMemoryEventStore;
  let reader: ReadStore & Pick<ReadStoreNotes, 'positions'>;
  let opened: AsyncDisposableStack;

  beforeEach(() => {
    url = server.newUrl();
    events = new InMemoryEventStore();
    reader = openMongoDbReadStore({ url, timeoutMs });
    opened = new AsyncDisposableStack();
    opened.defer(() => reader.close());
  });
  afterEach(() => opened.disposeAsync());

  /** Waits until the published positions are at the end of the log. */
  const publishedToEnd = async () => {
    const end = await events.lastPosition();
    await eventually(async () => {
      const { ready = false, projections = [] } = (await reader.positions()) ?? {};
      return ready && projections.every(({ position }) => position >= end);
    }, 'the positions are published');
  };
  const assertEqualsRebuildFromZero = async () => {
    assert.deepEqual(await documentsOf(reader), await documentsFromZero(events));
  };

  describe('one process', () => {
    let leases: InMemoryLeaseStore;
    beforeEach(() => {
      leases = new InMemoryLeaseStore();
    });

    const run = (holder: string, open = openMongoDbReadStoreWriter) => {
      const ending = new AbortController();
      const terms: number[] = [];
      const reported: Array<ReadonlyArray<number>> = [];
      const ended = runProjectionsUnderLease({
        onPositions: (served) => reported.push(served.map(({ position }) => position)),
        projections: flowsAndVersions,
        events,
        tail: events.tail,
        leases: new NodeLeases({ store: leases }),
        holder,
        openWriter: (fence) => {
          terms.push(fence);
          return open({ url, fence, timeoutMs });
        },
        log: quiet,
        signal: ending.signal,
      });
      const stop = async () => {
        ending.abort();
        await ended;
      };
      opened.defer(stop);
      return { terms, reported, stop };
    };

    it('publishes positions after each batch, and a beat while no event is appended', async () => {
      events.append(...history(40));
      run('one');
      await publishedToEnd();
      const before = await reader.positions();
      assert.deepEqual(
        before?.projections.map(({ name, live }) => [name, live]),
        [
          ['flows', true],
          ['versions', true],
        ],
      );
      events.append(...history(40, 40));
      await publishedToEnd();
      const after = await reader.positions();
      await eventually(async () => (await reader.positions())?.beat !== after?.beat, 'another beat is published');
      assert.deepEqual((await reader.positions())?.projections, after?.projections);
      await assertEqualsRebuildFromZero();
    });

    it('reports its positions on its own node, and none after its term', async () => {
      events.append(...history(40));
      const one = run('one');
      const end = await events.lastPosition();
      await eventually(() => one.reported.at(-1)?.every((position) => position === end) === true, 'it is at the end');
      await one.stop();
      assert.deepEqual(one.reported.at(-1), []);
    });

    it('continues on another node when the holder of the lease ends', async () => {
      events.append(...history(40));
      const one = run('one');
      await publishedToEnd();
      const other = run('other');
      await one.stop();
      events.append(...history(40, 40));
      await publishedToEnd();
      // On a busy machine a term may end early, and the next one begins.
      assert.equal(one.terms[0], 1);
      assert.ok((other.terms.at(-1) ?? 0) > (one.terms.at(-1) ?? 0), `${one.terms}; ${other.terms}`);
      await assertEqualsRebuildFromZero();
    });

    it('publishes no position when it ends before it knows its own positions', async () => {
      events.append(...history(40));
      const one = run('one');
      await publishedToEnd();
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

    it('begins a new term after a newer token has fenced it off', async () => {
      const one = run('one');
      await publishedToEnd();
      const intruder = openMongoDbReadStoreWriter({ url, fence: 3, timeoutMs });
      opened.defer(() => intruder.close());
      await intruder.savePositions({ ready: false, projections: [], statusChanges: 0, read: nothingRead });
      for (const { name } of flowsAndVersions) await intruder.generations(name);
      events.append(...history(40));
      await publishedToEnd();
      assert.equal(one.terms.at(-1), 3);
      await assertEqualsRebuildFromZero();
    });
  });

  describe('several processes', () => {
    const start = (holder: string) => {
      const node = new NodeProcess(url, holder);
      opened.defer(() => node.kill());
      return node;
    };
    const grow = (nodes: ReadonlyArray<NodeProcess>, count: number) => {
      events.append(...history(count, events.events.length));
      for (const node of nodes) node.writeLine(`${events.events.length}`);
    };

    it(`projects the same documents as a rebuild from zero after repeated kill -9 in mid-batch ${long}`, async () => {
      let [holder, waiting] = [start('node 0'), start('node 1')];
      await eventually(() => holder.terms + waiting.terms > 0, 'one holds the lease');
      if (waiting.terms > 0) [holder, waiting] = [waiting, holder];
      for (let round = 1; round <= 3; round += 1) {
        grow([holder, waiting], 400);
        const before = (await reader.positions())?.projections[0]?.position ?? 0;
        await eventually(async () => {
          const { projections } = (await reader.positions()) ?? { projections: [] };
          return projections.some(({ position }) => position > before) || (await someDocument(reader));
        }, 'it has begun to project');
        grow([holder, waiting], 400);
        await holder.kill();
        await eventually(() => waiting.terms > 0, 'the other holds the lease');
        [holder, waiting] = [waiting, start(`node ${round + 1}`)];
        waiting.writeLine(`${events.events.length}`);
      }
      await publishedToEnd();
      await assertEqualsRebuildFromZero();
    });

    it('projects the same documents as a rebuild from zero after a node wakes that was frozen past its lease', async () => {
      const frozen = start('frozen');
      await eventually(() => frozen.terms > 0, 'it holds the lease');
      const awake = start('awake');
      grow([frozen, awake], 300);
      await publishedToEnd();
      // When it wakes, it handles these events as if it still held the lease.
      grow([frozen], 100);
      frozen.signal('SIGSTOP');
      await eventually(() => awake.terms > 0, 'the other holds the lease');
      awake.writeLine(`${events.events.length}`);
      await publishedToEnd();
      frozen.signal('SIGCONT');
      await eventually(
        () => /could not be renewed|taken by|cut off/.test(frozen.output),
        'it has noticed the loss of its lease',
      );
      grow([frozen, awake], 100);
      await publishedToEnd();
      await assertEqualsRebuildFromZero();
      frozen.end();
      await eventually(() => frozen.output.endsWith('ended\n'), 'it ends');
    });
  });
});

async function someDocument(reader: ReadStore): Promise<boolean> {
  return (await documentsOf(reader).catch(() => [])).some((documents) => documents.length > 0);
}

/** A process that runs `projecting-process.ts`. */
class NodeProcess {
  readonly #child: ChildProcess;
  output = '';

  constructor(url: string, holder: string) {
    const script = fileURLToPath(new URL('./projecting-process.ts', import.meta.url));
    this.#child = spawn(process.execPath, [script, url, holder], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#child.stdout?.on('data', (chunk) => {
      this.output += chunk;
    });
  }

  /** The number of terms that it has held. */
  get terms(): number {
    return this.output.match(/^term /gm)?.length ?? 0;
  }

  writeLine(line: string): void {
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
