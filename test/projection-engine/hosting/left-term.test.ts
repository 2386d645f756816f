import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NodeLeases } from '#leases/node-leases.ts';
import { runProjectionsUnderLease } from '#projection-engine/hosting/leased-projections.ts';
import type { PositionsWriter } from '#read-store/published-positions.ts';
import type { ReadStoreWriter } from '#read-store/read-store.ts';
import { openSqliteReadStoreWriter } from '#read-store/sqlite/sqlite-read-store-writer.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { InMemoryEventStore } from '#test/support/fakes/in-memory-event-store.ts';
import { InMemoryLeaseStore } from '#test/support/fakes/in-memory-lease-store.ts';
import { Random } from '#test/worlds/random.ts';
import { SimulatedTime } from '#test/worlds/simulated-time.ts';
import { flowsAndVersions, history } from './flows-and-versions.ts';

type Writer = ReadStoreWriter & PositionsWriter;

const never = () => new Promise<never>(() => undefined);

describe('A term of the projections whose store does not answer', () => {
  let folder: string;
  let file: ReadStoreWriter;
  let events: InMemoryEventStore;
  let time: SimulatedTime;
  let stopping: AbortController;
  let ended: Promise<void>;
  let terms: number[];
  let reported: Array<ReadonlyArray<number>>;
  let errors: string[];
  let isCut: boolean;
  let silent: Map<string, () => Promise<unknown>>;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'left-term-'));
    file = openSqliteReadStoreWriter(join(folder, 'read.db'), assert.fail);
    time = new SimulatedTime(new Random(1)).install();
    events = new InMemoryEventStore();
    events.append(...history(30));
    stopping = new AbortController();
    [terms, reported, errors, isCut, silent] = [[], [], [], false, new Map()];
    const outage = () => Promise.reject(new UnavailableError('It is cut off.'));
    const leases = replacing(new InMemoryLeaseStore(), () => (isCut ? outage : undefined));
    ended = runProjectionsUnderLease({
      projections: flowsAndVersions,
      events,
      tail: events.tail,
      leases: new NodeLeases({ store: leases }),
      holder: 'one',
      openWriter: (token) => {
        terms.push(token);
        return writerOf(token);
      },
      onPositions: (served) => reported.push(served.map(({ position }) => position)),
      log: { info: () => undefined, warn: () => undefined, error: (_, message) => errors.push(message) },
      signal: stopping.signal,
    });
  });
  afterEach(async () => {
    stopping.abort();
    await time.pass(60_000);
    await ended;
    await file.close();
    time[Symbol.dispose]();
    await rm(folder, { recursive: true });
  });

  /** The calls of the first term's writer that are named in `silent` never answer. */
  const writerOf = (token: number): Writer => {
    const writer = Object.assign(Object.create(file) as Writer, { savePositions: async () => undefined });
    const members = replacing(writer, (name) => (token === 1 ? silent.get(name) : undefined), file);
    return replacing(members, (name) => (name === 'close' ? async () => undefined : undefined));
  };
  const loseTheLease = async () => {
    isCut = true;
    await time.pass(3_000);
    isCut = false;
  };
  const isAtTheEnd = () => {
    const end = events.events.at(-1)?.position;
    return reported.at(-1)?.length === 2 && reported.at(-1)?.every((position) => position === end) === true;
  };

  for (const call of ['generations', 'saveStatus'])
    it(`ends when ${call} never answers at its start, and the node projects again with a new writer`, async () => {
      silent.set(call, never);
      await time.pass(5_000);
      await loseTheLease();
      await time.pass(10_000);
      assert.deepEqual([terms, errors], [[1, 2], []]);
      assert.ok(isAtTheEnd(), JSON.stringify(reported.at(-1)));
    });

  for (const call of ['commit', 'savePositions'])
    it(`is left when ${call} never answers, and the node projects again with a new writer`, async () => {
      silent.set(call, never);
      await time.pass(5_000);
      await loseTheLease();
      await time.pass(7_000);
      assert.deepEqual([terms, reported.at(-1) ?? []], [[1], []]);
      await time.pass(20_000);
      assert.deepEqual(terms, [1, 2]);
      assert.ok(isAtTheEnd(), JSON.stringify(reported.at(-1)));
      assert.match(errors.join(), /^Work has not ended 10 s after its term/);
    });

  it('reports and stores nothing after it was left, although a call succeeds late', async () => {
    const answer = Promise.withResolvers<void>();
    let commits = 0;
    silent.set('commit', () => {
      commits += 1;
      return answer.promise;
    });
    await time.pass(5_000);
    await loseTheLease();
    await time.pass(30_000);
    assert.ok(isAtTheEnd());
    const before = [reported.length, commits];
    answer.resolve();
    await time.pass(5_000);
    assert.deepEqual([reported.length, commits, terms], [...before, [1, 2]]);
  });

  it('does not keep the node from stopping', async () => {
    silent.set('commit', never);
    await time.pass(5_000);
    stopping.abort();
    let hasEnded = false;
    void ended.then(() => {
      hasEnded = true;
    });
    await time.pass(12_000);
    assert.ok(hasEnded);
  });
});

/** Returns an object in whose place some of its methods are called. @param owner has the private members */
function replacing<Port extends object>(
  port: Port,
  replacement: (name: string) => (() => Promise<unknown>) | undefined,
  owner: object = port,
): Port {
  return new Proxy(port, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, owner === port ? target : owner) ?? Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return replacement(String(name)) ?? member.bind(owner);
    },
  });
}
