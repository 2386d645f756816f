import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ProjectionRunner, startProjectionRunner } from '#projection-engine/projection-runner.ts';
import type { ReadStoreWriter } from '#read-store/read-store.ts';
import { openSqliteReadStoreWriter } from '#read-store/sqlite/sqlite-read-store-writer.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import { InMemoryEventStore } from '#test/support/fakes/in-memory-event-store.ts';
import { eventually } from '#test/support/run/eventually.ts';
import { caughtUp, flowsAndVersions, history } from './hosting/flows-and-versions.ts';

const never = () => new Promise<never>(() => undefined);

describe('startProjectionRunner with a signal', () => {
  let folder: string;
  let writer: ReadStoreWriter;
  let events: InMemoryEventStore;
  let ending: AbortController;
  let calls: number;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'projection-runner-'));
    writer = openSqliteReadStoreWriter(join(folder, 'read.db'), assert.fail);
    events = new InMemoryEventStore();
    events.append(...history(30));
    ending = new AbortController();
    calls = 0;
  });
  afterEach(async () => {
    await writer.close();
    await rm(folder, { recursive: true });
  });

  const quiet = () => undefined;
  const log = { info: quiet, warn: quiet, error: quiet };
  const start = (store: ReadStoreWriter, from: Pick<InMemoryEventStore, 'read' | 'lastPosition'> = events) => {
    const { tail } = events;
    return startProjectionRunner({
      projections: flowsAndVersions,
      events: from,
      tail,
      store,
      log,
      signal: ending.signal,
    });
  };
  /** A writer with one method replaced. */
  const withMethod = (name: keyof ReadStoreWriter, other: () => Promise<never>) =>
    new Proxy(writer, {
      get(target, method) {
        const member: unknown = Reflect.get(target, method, target);
        if (typeof member !== 'function') return member;
        if (method !== name) return member.bind(target);
        return () => {
          calls += 1;
          return other();
        };
      },
    });
  const endsWhenAborted = async (starting: Promise<ProjectionRunner>) => {
    await eventually(() => calls > 0, 'the store is asked');
    ending.abort();
    const runner = await starting;
    await runner.finished;
    await runner.close();
  };

  for (const method of ['dropOthers', 'operatorState', 'generations', 'begin', 'saveStatus'] as const) {
    it(`ends an aborted start on a store that never answers ${method}`, async () => {
      await endsWhenAborted(start(withMethod(method, never)));
    });

    it(`ends an aborted start on a store for which ${method} is unavailable`, async () => {
      await endsWhenAborted(start(withMethod(method, () => Promise.reject(new UnavailableError('It is down.')))));
    });
  }

  it('ends an aborted start on a log that never answers, and makes no further call', async () => {
    const { promise, resolve } = Promise.withResolvers<number>();
    const silent = {
      read: events.read.bind(events),
      lastPosition: () => {
        calls += 1;
        return promise;
      },
    };
    await endsWhenAborted(
      start(
        withMethod('dropOthers', () => assert.fail('It was asked.')),
        silent,
      ),
    );
    resolve(3);
    await promise;
    assert.equal(calls, 1);
  });

  it('makes no call at all when the signal was aborted before the start', async () => {
    ending.abort();
    const runner = await start(withMethod('dropOthers', () => assert.fail('It was asked.')));
    await runner.finished;
  });

  it('stores its checkpoint when it is aborted after the start, as on close', async () => {
    const runner = await start(writer);
    await caughtUp(runner, events);
    ending.abort();
    await runner.finished;
    const { current } = await writer.generations('flows');
    assert.deepEqual([current?.complete, current?.checkpoint], [true, await events.lastPosition()]);
  });

  it('rejects the start with an error that no retry resolves', async () => {
    await assert.rejects(start(withMethod('generations', () => Promise.reject(new TypeError('A bug.')))), TypeError);
  });
});
